"""Promise: Tools in a hostile repository.
Attacker: the script that ruby, perl or php of the catalogue is given, and who calls them. Means: what GTFOBins lists for
them: a shell, files outside, a connection to the host, a program that is started.

Expected: ordinary scripts and lines of code work in every jail, and load the modules of the system. What a script does
stays in the jail, and without a jail it does not run. Options that wait for a person, serve, or change the directory are
refused.
"""
import json
import socket

import pytest

import catalog
from catalog import Case

RUBY = """require "json"
require "openssl"
require "socket"
puts JSON.dump([ARGV, TCPServer.new("127.0.0.1", 0).addr[3]])
"""
PERL = """use strict;
use Data::Dumper;
use IO::Socket::INET;
use List::Util 'sum';
use POSIX;
my $server = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1') or die $@;
printf "%s %d %s\\n", $server->sockhost, sum(1, 2), "@ARGV";
"""
PHP = """<?php
$server = stream_socket_server("tcp://127.0.0.1:0") or exit(1);
echo json_encode($argv), get_class(new DOMDocument()), "\\n";
"""
READS = {"ruby": "puts File.read('SECRET')", "perl": "open F, 'SECRET'; print <F>;",
         "php": "echo file_get_contents('SECRET');"}
WRITES = {"ruby": "File.write('CANARY', '')", "perl": "open F, '>CANARY';", "php": "touch('CANARY');"}
SHELL = {"ruby": "exec '/bin/sh', '-c', ': > CANARY'", "perl": "exec '/bin/sh', '-c', ': > CANARY';",
         "php": "pcntl_exec('/bin/sh', ['-c', ': > CANARY']);"}
# A program of the system prints the secret, in two parts: its name in the script does not count.
PRINTF = "/usr/bin/printf %s%s the-secret -of-the-host"
STARTS = {"ruby": f"puts `{PRINTF}`", "perl": f"print `{PRINTF}`;", "php": f"passthru('{PRINTF}');"}
CONNECTS = {"ruby": "require 'socket'; TCPSocket.new('127.0.0.1', {}).puts 'here'",
            "perl": "use IO::Socket::INET; my $s = IO::Socket::INET->new('127.0.0.1:{}') or die $@; print $s 'here';",
            "php": "$s = fsockopen('127.0.0.1', {}) or exit(1); fwrite($s, 'here');"}
CODE = {"ruby": "-e", "perl": "-e", "php": "-r"}


def attacks(name):
    def line(code):
        return f'{name} {CODE[name]} "{code}"', {}

    def script(code):
        return f"{name} script", {"script": ("<?php\n" if name == "php" else "") + code + "\n"}
    return {"reads a file outside": line(READS[name]), "writes outside": script(WRITES[name]), "a shell": line(SHELL[name]),
            "starts a program": script(STARTS[name])}


# Arguments, with | between the calls.
REFUSED = {
    "ruby": """
        /etc/passwd | ../a.rb | missing.rb | -C / a.rb | -C/ -e 1 | -X / a.rb | -S irb | -x a.rb | -x/ a.rb |
        -I/etc a.rb | -I /etc a.rb | -r/etc/x a.rb | -r ../x a.rb | --mjit a.rb | --jit a.rb | --server a.rb""",
    "perl": """
        /etc/passwd | ../a.pl | missing.pl | -d a.pl | -d:Trace a.pl | -de 1 | -D8 a.pl | -u a.pl | -S prove |
        -x a.pl | -x/ a.pl | -I/etc a.pl | -I /etc a.pl | --unknown""",
    "php": """
        /etc/passwd | ../a.php | missing.php | -S 127.0.0.1:80 | -S 127.0.0.1:80 -t . | -t / a.php | -a |
        --interactive | --server x | -z /tmp/x.so a.php | -z x.so a.php | -c /etc a.php | -f /etc/passwd |
        -F /etc/passwd | --unknown""",
}
TABLE = {
    "ruby": Case("ruby -W1 -Ilib a.rb -x", {"a.rb": RUBY}, '[["-x"],"127.0.0.1"]'),
    "perl": Case("perl a.pl -x", {"a.pl": PERL}, "127.0.0.1 3 -x", sample=True),
    "php": Case("php -d memory_limit=64M a.php -x", {"a.php": PHP}, '["a.php","-x"]DOMDocument'),
}
for tool, case in TABLE.items():
    case.refused, case.attacks = catalog.vectors(tool, REFUSED[tool]), attacks(tool)
# Other ordinary calls: argv, what is printed.
FORMS = {
    "ruby": [("ruby -c a.rb", "Syntax OK"), ("ruby -rjson -e 'puts JSON.dump(ARGV)' 1 -z", '["1","-z"]'),
             ("ruby -ne 'puts $_.upcase' t.txt", "A B\nC D"), ("ruby -i.bak -pe '$_.upcase!' t.txt", ""),
             ("ruby --version", "ruby ")],
    "perl": [("perl -c a.pl", "syntax OK"), ("perl -wle 'print for @ARGV' 1 -z", "1\n-z"),
             ("perl -lane 'print $F[1]' t.txt", "b\nd"), ("perl -MList::Util=sum -e 'print sum(1, 2)'", "3"),
             ("perl -0777 -ne 'print length' t.txt", "8"), ("perl -pi.bak -e s/a/A/ t.txt", ""),
             ("perl -e 'exec $^X, q(-e), q(print 7)'", "7"), ("perl --version", "This is perl")],
    "php": [("php -l a.php", "No syntax errors"), ("php -r 'echo $argv[1];' -- -z", "-z"), ("php -m", "json"),
            ("php -w a.php", "<?php"), ("php -R 'echo strlen($argn);'", ""), ("php --version", "PHP ")],
}


def test_table_has_every_entry():
    assert set(TABLE) == set(catalog.family("interpreters"))


@pytest.mark.parametrize("name", catalog.chosen(TABLE))
def test_ordinary_work(cell, name):
    catalog.check_work(cell, name, TABLE[name])


@pytest.mark.parametrize("name", catalog.chosen(TABLE))
def test_other_forms(once_cell, name):
    """The same for every caller."""
    for argv, said in FORMS[name]:
        files = {**TABLE[name].files, "t.txt": "a b\nc d\n"}
        catalog.check_work(once_cell, name, Case(argv, files, said))


@pytest.mark.parametrize("name", TABLE)
def test_arguments_are_refused(user_box, name):
    catalog.check_refused(user_box, name, TABLE[name])


@pytest.mark.parametrize("name, attack", catalog.chosen_attacks(TABLE))
def test_attack_stays_in_the_jail(cell, name, attack):
    catalog.check_attack(cell, name, TABLE[name], attack)


@pytest.mark.parametrize("name", catalog.chosen(TABLE))
def test_script_does_not_reach_the_host(once_cell, name):
    """A reverse shell begins so. The listener is on loopback of the host; the run has its own."""
    catalog.needs(name)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        argv = [name, CODE[name], CONNECTS[name].format(listener.getsockname()[1])]
        assert once_cell.box.call(argv).status == 0
        listener.settimeout(60)
        with listener.accept()[0] as connection:
            assert connection.recv(4) == b"here"
        answer = once_cell.run(*argv, policy=catalog.policy(once_cell.box, name))
        assert answer.outcome == "exited" and answer.status != 0 and "refused" in catalog.output(answer), answer.document
        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.accept()


@pytest.mark.parametrize("name", TABLE)
def test_without_a_jail_it_does_not_run(user_box, name):
    answer = user_box.run(name, CODE[name], "1;", policy=catalog.policy(user_box, name), options=["--jail", "none"])
    assert (answer.outcome, answer["rule"]) == ("jail_unavailable", f"tools.{name}.workspace_code"), answer.document


@pytest.mark.parametrize("name", TABLE)
def test_policy_check_warns_of_nothing(user_box, name):
    answer = user_box.call([user_box.command, "policy", "check", "--json", str(catalog.policy(user_box, name))])
    assert [found for found in json.loads(answer.out)["findings"] if found["severity"] == "warning"] == [], answer.out
