// main.cpp: the program lathe (verb_main.cpp).
#include "calls/lathe.h"

int main(int argc, char** argv) { return lathe_main(argc, argv); }
