/* cli/study/student.h - mean of a sample and how well it is known, by Student's distribution. */
#ifndef TALUS_CLI_STUDY_STUDENT_H
#define TALUS_CLI_STUDY_STUDENT_H

typedef struct StudySample {
    int count;   /* of the values that are known */
    double mean; /* NAN without values */
    double
        deviation; /* standard deviation of the sample, with count - 1; NAN for fewer than two values */
    double error; /* standard error of the mean, deviation / sqrt(count) */
    /* Half width of the interval around the sample's mean that has the true mean with a probability of 95 %, if values are
     * normally distributed. */
    double interval;
} StudySample;

/* Summarises values; those that are NAN are left out. */
StudySample study_summarise(const double *value, int count);
/* Returns t such that a variable of Student's distribution with this number of degrees of freedom, 1 or more, is between -t
 * and t with a probability of 95 %. */
double study_student_quantile(int degrees);

#endif
