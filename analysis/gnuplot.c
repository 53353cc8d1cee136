/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Theory of operation
 *
 * A script is collected in memory, then given to a gnuplot of its own by way
 * of an unlinked temporary file on its standard input; its standard output
 * and error are such files too, so that no pipe can fill up. gnuplot reads no
 * start-up file (-d), has an environment of three variables and a limit on
 * processor time and on what it may write.
 *
 * In gnuplot's language a string in single quotes is taken as it is: no
 * backslash, backquote, macro or variable means anything in it. It may not
 * begin with a doubled quote, so a quote becomes a typographic one, and for
 * good measure a backquote a modifier letter that looks like it; a per cent
 * sign, which begins a number's format in the labels of tics, a wide one.
 * Line ends cannot occur because text is escaped before.
 */
#include "analysis/gnuplot.h"

#include "analysis/escape.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define CPU_LIMIT_S 60
#define OUTPUT_LIMIT (64 << 20) /* bytes */
#define EXIT_NO_GNUPLOT 127

static const char *
search_path(void)
{
    const char *path = getenv("PATH");

    return path != NULL && *path != '\0' ? path
                                         : "/usr/local/bin:/usr/bin:/bin";
}

bool
plot_available(void)
{
    const char *at = search_path();

    while (*at != '\0') {
        const size_t length = strcspn(at, ":");
        char file[4096];

        if (length > 0 && length < sizeof file - 16) {
            snprintf(file, sizeof file, "%.*s/gnuplot", (int)length, at);
            if (access(file, X_OK) == 0)
                return true;
        }
        at += length + (at[length] == ':');
    }
    return false;
}

void
plot_begin(struct plot *plot, struct plotter *plotter, unsigned width,
           unsigned height)
{
    memset(plot, 0, sizeof *plot);
    plot->plotter = plotter;
    if (plotter->missing)
        return;
    plot->script = open_memstream(&plot->text, &plot->length);
    if (plot->script == NULL)
        return;
    fprintf(plot->script,
            "set terminal svg size %u,%u noenhanced font 'sans,14'\n"
            "set output\nset encoding utf8\n"
            "set border 3 linecolor rgb " PLOT_LINE "\n"
            "set tics nomirror textcolor rgb " PLOT_SOFT "\n"
            "set grid linecolor rgb " PLOT_LINE " linetype 1 linewidth 0.5\n"
            "set xlabel textcolor rgb " PLOT_SOFT "\n"
            "set ylabel textcolor rgb " PLOT_SOFT "\n"
            "set key textcolor rgb " PLOT_INK " samplen 1.5\n"
            "set tmargin 0.7\n", width, height);
}

void
plot_text(struct plot *plot, const char *text)
{
    char safe[256];
    const char *at;

    escape_string(ESCAPE_TERMINAL, text, safe, sizeof safe);
    fputc('\'', plot->script);
    for (at = safe; *at != '\0'; at++)
        if (*at == '\'')
            fputs("\u2019", plot->script);
        else if (*at == '`')
            fputs("\u02cb", plot->script);
        else if (*at == '%')
            fputs("\uff05", plot->script);
        else
            fputc(*at, plot->script);
    fputc('\'', plot->script);
}

void
plot_axis(struct plot *plot, char axis, double low, double high)
{
    /* 1, 2 or 5 times a power of ten: three to six tics. */
    const double unit = pow(10, floor(log10((high - low) / 3)));
    const double steps = (high - low) / 3 / unit;
    const double step = unit * (steps < 2 ? 1 : steps < 5 ? 2 : 5);

    fprintf(plot->script, "set %crange [%.9g:%.9g]\nset format %c '%%g'\n"
            "set %ctics autofreq %.9g,%.9g\n", axis, low, high, axis, axis,
            ceil(low / step) * step, step);
}

void
plot_log_axis(struct plot *plot, double low, double high)
{
    /* As many as there is room for, labels of five digits. */
    static const struct {
        double ratio; /* of the axis, at most */
        size_t count;
        double steps[7];
    } tiers[] = {
        {4.5, 7, {1, 1.5, 2, 3, 4, 5, 7}},
        {9, 5, {1, 2, 3, 5, 7}},
        {50, 3, {1, 2, 5}},
        {1000, 2, {1, 3}},
        {HUGE_VAL, 1, {1}},
    };
    const double *steps;
    size_t count, tier = 0;
    double decade = pow(10, floor(log10(low)));
    const char *comma = "";
    size_t i;

    while (high / low > tiers[tier].ratio)
        tier++;
    steps = tiers[tier].steps;
    count = tiers[tier].count;
    fprintf(plot->script, "set logscale x\nset xrange [%.9g:%.9g]\n"
            "set xtics (", low, high);
    for (; decade <= high; decade *= 10)
        for (i = 0; i < count; i++)
            if (decade * steps[i] >= low && decade * steps[i] <= high) {
                fprintf(plot->script, "%s'%.12g' %.12g", comma,
                        decade * steps[i], decade * steps[i]);
                comma = ",";
            }
    fputs(")\n", plot->script);
}

static void
limit(int resource, rlim_t most)
{
    struct rlimit value;

    if (getrlimit(resource, &value) != 0)
        return;
    if (value.rlim_cur == RLIM_INFINITY || value.rlim_cur > most)
        value.rlim_cur = most;
    setrlimit(resource, &value);
}

/* In the child: becomes gnuplot. */
static void __attribute__((noreturn))
become_gnuplot(FILE *in, FILE *out, FILE *error)
{
    static char locale[] = "LC_ALL=C.UTF-8", home[] = "HOME=/nonexistent";
    static char name[] = "gnuplot", option[] = "-d";
    char *arguments[] = {name, option, NULL};
    char path[4096];
    char *environment[] = {path, locale, home, NULL};
    extern char **environ;

    snprintf(path, sizeof path, "PATH=%s", search_path());
    limit(RLIMIT_CPU, CPU_LIMIT_S);
    limit(RLIMIT_FSIZE, OUTPUT_LIMIT);
    if (dup2(fileno(in), 0) < 0 || dup2(fileno(out), 1) < 0 ||
        dup2(fileno(error), 2) < 0)
        _exit(EXIT_NO_GNUPLOT - 1);
    environ = environment;
    execvp(name, arguments);
    _exit(EXIT_NO_GNUPLOT);
}

/* @return its exit status; -1 when it was ended or could not be started. */
static int
run_gnuplot(FILE *in, FILE *out, FILE *error)
{
    const pid_t child = fork();
    int status;

    if (child < 0)
        return -1;
    if (child == 0)
        become_gnuplot(in, out, error);
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The whole file, not terminated; NULL when out of memory. */
static char *
read_back(FILE *file, size_t *length)
{
    char *text;
    long size;

    *length = 0;
    if (fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0)
        return NULL;
    rewind(file);
    text = malloc((size_t)size + 1);
    if (text != NULL)
        *length = fread(text, 1, (size_t)size, file);
    return text;
}

static void
take_error(struct plotter *plotter, FILE *error)
{
    char line[256] = "";

    rewind(error);
    while (fgets(line, sizeof line, error) != NULL &&
           (line[0] == '\n' || strspn(line, " \t^") == strcspn(line, "\n")))
        continue;
    line[strcspn(line, "\n")] = '\0';
    escape_string(ESCAPE_TERMINAL, line[0] != '\0' ? line : "it gave no reason",
                  plotter->error, sizeof plotter->error);
}

/* All of the picture, or nothing. */
static bool
rewrite_whole(const char *svg, size_t length, const char *label, FILE *out)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    bool whole;

    if (memory == NULL)
        return false;
    whole = plot_svg_rewrite(svg, length, label, memory);
    whole = fclose(memory) == 0 && whole;
    if (whole)
        fwrite(text, 1, size, out);
    free(text);
    return whole;
}

/* Draws into out what in says. */
static bool
draw(struct plotter *plotter, FILE *in, const char *label, FILE *out)
{
    FILE *picture = tmpfile(), *error = tmpfile();
    bool drawn = false;
    char *svg = NULL;
    size_t length = 0;
    int status = -1;

    if (picture != NULL && error != NULL)
        status = run_gnuplot(in, picture, error);
    plotter->tried = true;
    plotter->missing = status == EXIT_NO_GNUPLOT;
    if (status == 0)
        svg = read_back(picture, &length);
    if (svg != NULL)
        drawn = rewrite_whole(svg, length, label, out);
    if (!drawn && !plotter->missing) {
        plotter->failed++;
        if (error != NULL)
            take_error(plotter, error);
    }
    free(svg);
    if (picture != NULL)
        fclose(picture);
    if (error != NULL)
        fclose(error);
    return drawn;
}

bool
plot_end(struct plot *plot, const char *label, FILE *out)
{
    bool drawn = false;
    FILE *in;

    if (plot->script == NULL)
        return false;
    in = tmpfile();
    if (fclose(plot->script) == 0 && in != NULL &&
        fwrite(plot->text, 1, plot->length, in) == plot->length &&
        fflush(in) == 0 && lseek(fileno(in), 0, SEEK_SET) == 0)
        drawn = draw(plot->plotter, in, label, out);
    if (in != NULL)
        fclose(in);
    free(plot->text);
    memset(plot, 0, sizeof *plot);
    return drawn;
}
