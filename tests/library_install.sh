#!/bin/sh
# An installed library, after its prefix was moved, serves programs that see nothing else of the tree: through CMake and
# pkg-config, static and shared. talus/talus.h compiles as C17 and C++17 without a warning. The examples say what they
# should. Modules are found.
set -u
failures=0
rm -rf library_install.work
mkdir library_install.work
cd library_install.work || exit 1
root=$(pwd -P)

fail() {
    echo "FAILED: $*"
    failures=$((failures + 1))
}

if [ -n "$TALUS_SANITIZE" ]; then
    echo "skip: programs would have to be built with the sanitizers too"
    exit 77
fi
command -v cmake >/dev/null 2>&1 || { echo "skip: there is no cmake" && exit 77; }
cmake --install "$TALUS_BUILD_DIR" --prefix "$root/prefix" >log 2>&1 || {
    cat log
    echo "FAILED: cmake --install"
    exit 1
}
mkdir usr
mv prefix usr/moved
moved=$root/usr/moved
lib=$(dirname "$(find "$moved" -name libtalus.a)")
cp "$TALUS_SOURCE_DIR/examples/embed.c" .

# ---- headers ----

printf '#include <talus/talus.h>\n#include <talus/talus.h>\n' >one.c
cp one.c one.cc
seen=0
headers() { # headers STANDARD FILE COMPILER...
    standard=$1 file=$2
    shift 2
    for compiler; do
        command -v "$compiler" >/dev/null 2>&1 || continue
        seen=$((seen + 1))
        "$compiler" -std="$standard" -Wall -Wextra -Werror -pedantic -fsyntax-only -I"$moved/include" "$file" 2>said ||
            fail "$compiler -std=$standard: $(cat said)"
    done
}
headers c17 one.c cc gcc clang
headers c++17 one.cc c++ g++ clang++
[ $seen -gt 0 ] || fail "no compiler was tried"

# ---- CMake ----

mkdir project
cat >project/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.21)
project(embed C)
set(CMAKE_C_STANDARD 17)
find_package(talus 0.1 REQUIRED COMPONENTS ${PARTS})
foreach(part IN LISTS PARTS)
  add_executable(embed_${part} ${FILE})
  if(part STREQUAL "static")
    target_link_libraries(embed_static talus::talus)
  else()
    target_link_libraries(embed_shared talus::shared)
  endif()
endforeach()
END

generator=$(sed -n 's/^CMAKE_GENERATOR:INTERNAL=//p' "$TALUS_BUILD_DIR/CMakeCache.txt")
configure() { # configure FOLDER PARTS [ARGS]
    folder=$1 parts=$2
    shift 2
    cmake -G "$generator" -S project -B "$folder" -DCMAKE_PREFIX_PATH="$moved" -DFILE="$root/embed.c" -DPARTS="$parts" "$@" >said 2>&1
}

expected='the top box is at z = 1\.899'
runs() { # runs WHAT PROGRAM
    "$2" >out 2>err || fail "$1: $(cat err)"
    grep -q "$expected" out || fail "$1: $(cat out)"
}

needs() { # needs PROGRAM: whether it loads libtalus.so.N
    readelf -d "$1" | grep -q 'NEEDED.*\[libtalus\.so\.[0-9]*\]'
}

configure both 'static;shared' || fail "find_package: $(cat said)"
cmake --build both >said 2>&1 || fail "building with CMake: $(cat said)"
runs "talus::talus" both/embed_static
runs "talus::shared" both/embed_shared
needs both/embed_static && fail "talus::talus is libtalus.so"
needs both/embed_shared || fail "talus::shared is not libtalus.so"

# The shared library needs no package of those that it was built with, and what does not exist is not found.
configure alone shared -DCMAKE_DISABLE_FIND_PACKAGE_HDF5=ON -DCMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON ||
    fail "COMPONENTS shared: $(cat said)"
configure none moon && fail "there is a component moon"
grep -qi "moon" said || fail "a component that does not exist: $(cat said)"

# ---- pkg-config ----

if command -v pkg-config >/dev/null 2>&1; then
    PKG_CONFIG_PATH=$lib/pkgconfig
    export PKG_CONFIG_PATH
    version=$(sed -n 's/^#define TALUS_VERSION_[A-Z]* \([0-9]*\)$/\1/p' "$moved/include/talus/base.h" | paste -sd. -)
    [ "$(pkg-config --modversion talus)" = "$version" ] || fail "talus.pc is of version $(pkg-config --modversion talus)"
    # shellcheck disable=SC2046 # flags are words
    cc -std=c17 $(pkg-config --cflags talus) embed.c $(pkg-config --libs talus) -o embed 2>said || fail "talus.pc: $(cat said)"
    needs embed || fail "talus.pc links libtalus.a"
    LD_LIBRARY_PATH=$lib runs talus.pc ./embed
    # shellcheck disable=SC2046
    cc -std=c17 $(pkg-config --cflags talus-static) embed.c $(pkg-config --libs talus-static) -o embed 2>said ||
        fail "talus-static.pc: $(cat said)"
    needs embed && fail "talus-static.pc links libtalus.so"
    runs talus-static.pc ./embed
else
    echo "without pkg-config"
fi

# ---- examples ----

# example NAME TEXT: the installed example compiles without a warning and prints a line with TEXT
example() {
    cc -std=c17 -O1 -Wall -Wextra -Werror -pedantic -I"$moved/include" "$moved/share/doc/talus/examples/$1.c" \
        -L"$lib" -ltalus -Wl,-rpath,"$lib" -lm -o "$1" 2>said || fail "examples/$1.c: $(cat said)"
    ./"$1" >out 2>err || fail "examples/$1.c ends with $?: $(cat err)"
    grep -q "$2" out || fail "examples/$1.c prints: $(cat out)"
    ran="$ran $1"
}
ran=
example embed "$expected"
example outside_solver '40 steps, 0 missed, solved by outside; the top box is at z = 1\.900 m'
example contact_listener '^[0-9]* contacts have begun and [0-9]* have ended; 3 are left$'
grep -q 's: lowest and the floor touch$' out || fail "examples/contact_listener.c: the lowest ball does not land: $(cat out)"
example lidar '^1[0-9][0-9][0-9] of 1600 rays meet a stone; the bed is [12][0-9]\.[0-9] mm high on average'
example piston 'pressed with 100\.0 N and its weight, 4\.9 N: the grains bear 10[45]\.[0-9] N'
for source in "$TALUS_SOURCE_DIR"/examples/*.c; do
    name=${source##*/}
    case " $ran " in
    *" ${name%.c} "*) ;;
    *) fail "examples/$name is not run here" ;;
    esac
done

# ---- what else there is ----

# folders of the source, as its own path may be as short as /talus, which installed files name for other reasons
grep -rlF -e "$root/prefix" -e "$TALUS_BUILD_DIR" -e "$TALUS_SOURCE_DIR/src" -e "$TALUS_SOURCE_DIR/cmake" "$lib/cmake" "$lib/pkgconfig" "$moved/include" >said &&
    fail "these name the old prefix or the build: $(cat said)"
cmp -s "$moved/share/doc/talus/LICENSE" "$TALUS_SOURCE_DIR/LICENSE" || fail "the licence is not installed"
cmp -s "$moved/share/doc/talus/licenses/three.txt" "$TALUS_SOURCE_DIR/apps/viewer/LICENSES/three.txt" ||
    fail "the licences of what pages contain are not installed"
cmp -s "$moved/share/doc/talus/examples/embed.c" embed.c || fail "the examples are not installed"

# A module comes from the prefix of the library, and of the program: here it is none, and the error says which file.
if [ -f "$lib/talus/talus_mpi.so" ]; then
    cat >rank.c <<'END'
#include <stdio.h>
#include <talus/talus.h>

static TalusStatus do_nothing(TalusComm *comm, void *context)
{
    (void)comm, (void)context;
    return TALUS_OK;
}

int main(void)
{
    TalusStatus status = talus_ranks_run_mpi(do_nothing, NULL);
    puts(status == TALUS_OK ? "" : talus_error());
    return 0;
}
END
    echo "no module" >"$lib/talus/talus_mpi.so"
    mkdir -p "$moved/bin"
    cc -std=c17 -I"$moved/include" rank.c -L"$lib" -ltalus -Wl,-rpath,"$lib" -o rank || fail "linking with libtalus.so"
    OMPI_COMM_WORLD_SIZE=1 ./rank >out
    grep -qF "$lib/talus/talus_mpi.so" out || fail "libtalus.so takes the module from elsewhere: $(cat out)"
    # shellcheck disable=SC2086 # flags are words
    cc -std=c17 -I"$moved/include" rank.c "$lib/libtalus.a" $TALUS_LINK -lm -lpthread -ldl -o "$moved/bin/rank" ||
        fail "linking with libtalus.a"
    OMPI_COMM_WORLD_SIZE=1 "$moved/bin/rank" >out
    grep -qF "talus/talus_mpi.so" out && grep -qF "$moved" out || fail "the program takes the module from elsewhere: $(cat out)"
fi

[ $failures -eq 0 ] && echo "library_install: passed"
[ $failures -eq 0 ]
