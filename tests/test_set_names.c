/* Friction models by name: read, written, checked. */

#include "support/test.h"

#include <string.h>
#include <talus/set.h>

TEST(models_by_name)
{
    TalusFrictionModel model = {0};
    const char *const good[] = {"disc", "square", "polygon:3", "polygon:64", "none"};
    for (int i = 0; i < 5; i++) {
        char text[32];
        CHECK_OK(talus_section_parse(good[i], &model));
        CHECK_OK(talus_model_check(model));
        talus_section_format(model, text, sizeof text);
        CHECK_STR(text, good[i]);
    }
    const char *const bad[] = {"polygon",    "polygon:",   "polygon:2",  "polygon:65",
                               "polygon:-8", "polygon: 8", "polygon:8x", "polygon:1e9",
                               "",           "Disc",       "polygons",   "cone"};
    for (int i = 0; i < 12; i++)
        CHECK_INT(talus_section_parse(bad[i], &model), TALUS_ERR_ARGUMENT);
    for (int i = 0; i < TALUS_LAWS; i++) {
        CHECK_OK(talus_law_parse(talus_law_name((TalusFrictionLaw)i), &model));
        CHECK_INT(model.law, i);
        CHECK(*talus_law_summary((TalusFrictionLaw)i));
    }
    CHECK_INT(talus_law_parse("coulom", &model), TALUS_ERR_ARGUMENT);
    CHECK(strstr(talus_error(), "coulomb"));
    for (int i = 0; i < TALUS_SECTIONS; i++)
        CHECK(*talus_section_name((TalusSection)i) && *talus_section_summary((TalusSection)i));
    CHECK_INT(talus_model_check((TalusFrictionModel){.sides = 4}), TALUS_ERR_ARGUMENT);
    CHECK_INT(talus_model_check((TalusFrictionModel){.section = TALUS_SECTION_POLYGON}),
              TALUS_ERR_ARGUMENT);
    CHECK_INT(talus_model_check((TalusFrictionModel){.law = TALUS_LAWS}), TALUS_ERR_ARGUMENT);
    CHECK_INT(talus_model_check((TalusFrictionModel){TALUS_SECTION_JOINT, TALUS_LAW_CCP, 7}),
              TALUS_ERR_ARGUMENT);
    CHECK(strstr(talus_error(), "a joint is no section of friction"));
    CHECK_INT(talus_section_parse("joint", &model), TALUS_ERR_ARGUMENT);
    CHECK_INT(talus_section_parse("joint:7", &model), TALUS_ERR_ARGUMENT);
}

int main(void)
{
    RUN(models_by_name);
    return talus_test_result();
}
