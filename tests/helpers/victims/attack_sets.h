/*
 * attack_sets.h - the victims that chokepoint-attack consists of.
 *
 * Each is compiled a second time with its main() under the name below, so that one program has them all.
 */
#ifndef ATTACK_SETS_H
#define ATTACK_SETS_H

int attempt_main(int argc, char **argv);
int breach_calls_main(int argc, char **argv);
int breach_code_main(int argc, char **argv);
int breach_files_main(int argc, char **argv);
int breach_metadata_main(int argc, char **argv);
int breach_mounts_main(int argc, char **argv);
int breach_net_main(int argc, char **argv);
int breach_processes_main(int argc, char **argv);
int escape_main(int argc, char **argv);

#endif
