/* backend/cpu/sweep_items.h - the step of a Gauss-Seidel sweep for one contact of any kind; included by sweep_loops.h
 * and sweep_chaotic.c. The including file defines:
 *     Real                   type of a number
 *     body_velocity          velocity record of a body, m/s
 *     add_impulse            applies an impulse to a body
 *     speed_unit             unit of the speeds whose squares item_change2 returns, m/s */

/* u = velocity of b relative to a at the contact, world frame; b < 0 is the fixed world. */
KERNEL void item_velocity(const TalusSweep *sweep, const SweepItem *item, double u[3])
{
    double copy[8], turn[3];
    const double *a = body_velocity(sweep, item->a, copy);
    talus_cross3(a + 4, item->arm_a, turn);
    for (int k = 0; k < 3; k++)
        u[k] = item->offset[k] - a[k] - turn[k];
    if (item->b < 0)
        return;
    const double *b = body_velocity(sweep, item->b, copy);
    talus_cross3(b + 4, item->arm_b, turn);
    for (int k = 0; k < 3; k++)
        u[k] += b[k] + turn[k];
}

/* Takes the projected step of one contact at the contact velocity u, as step_packs, and stores its impulse in the
 * item; dp = change of the impulse. */
KERNEL void step_item(SweepItem *item, double rho, const double u[3], double dp[3])
{
    const double *n = item->normal;
    const StepRule *rule = &item->rule;
    double gamma_n = dot3(n, item->gamma), t[3];
    double normal = gamma_n - rule->inv_n * (dot3(n, u) + item->bias + item->compliance * gamma_n);
    for (int k = 0; k < 3; k++)
        t[k] = item->gamma[k] - rule->inv_t * u[k];
    double along = dot3(n, t);
    for (int k = 0; k < 3; k++)
        t[k] -= along * n[k];
    double size = sqrt(dot3(t, t)), shrink = 1.0;
    if (size > rule->mu * normal || normal < 0.0) {
        bool apex = rule->kappa * size <= -normal;
        normal = apex ? 0.0 : (normal + rule->kappa * size) * rule->mantle;
        shrink = apex || size == 0.0 ? 0.0 : rule->mu * normal / size;
    }
    for (int k = 0; k < 3; k++) {
        double full = normal * n[k] + shrink * t[k];
        double next = item->gamma[k] + rho * (full - item->gamma[k]);
        dp[k] = next - item->gamma[k];
        item->gamma[k] = next;
    }
}

/* Applies the change dp of an item's impulse, world frame, to its bodies: -dp to a, dp to b. */
KERNEL void apply_change(TalusSweep *sweep, const SweepItem *item, const double dp[3])
{
    add_impulse(sweep, item->a, -1.0, item->arm_a, dp);
    if (item->b >= 0)
        add_impulse(sweep, item->b, 1.0, item->arm_b, dp);
}

/* Returns the squared velocity change of an item whose impulse changed by dp, in units of `term`. */
KERNEL Real item_change2(const TalusSweep *sweep, const SweepItem *item, const double dp[3])
{
    double scale = item->rule.scale / speed_unit(sweep);
    return (Real)(scale * scale * dot3(dp, dp));
}
