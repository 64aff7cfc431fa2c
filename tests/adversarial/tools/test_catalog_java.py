"""Promise: Tools in a hostile repository.
Attacker: who calls the Java tools of the catalogue, and the repository that they build. Means: options that load an agent, name
settings or write a file; a file with options of the machine; a build script or a class that writes outside or starts a
program.

Expected: the ordinary call does its work in every jail. The options are refused before anything runs. What the repository
runs stays in the jail.
"""
import pytest

import catalog
from catalog import Case
from feature import full

MAIN = 'public class Main { public static void main(String[] a) { System.out.println("it runs " + a.length); } }\n'
EVIL = """import java.nio.file.*;
public class Evil {
    public static void main(String[] a) throws Exception {
        if (a.length > 0)
            new ProcessBuilder("sh", "-c", "echo > CANARY").inheritIO().start().waitFor();
        else
            Files.writeString(Path.of("CANARY"), "x");
    }
}
"""
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>example</groupId><artifactId>p</artifactId><version>1</version><packaging>pom</packaging></project>
"""
GRADLE = "apply plugin: 'java'\ntask hello { doLast { println 'it runs' } }\n"

TABLE = {
    "javac": Case("javac -d out -Xlint -encoding UTF-8 Main.java", {"Main.java": MAIN},
                  then=("javac --release=11 -cp out:lib -d out -g Main.java",), refused=(
        "javac -J-Xmx1g Main.java", "javac -J-agentpath:./x.so Main.java", "javac -processor X Main.java",
        "javac -processorpath . Main.java", "javac --processor-path=. Main.java", "javac -d /tmp/x Main.java", "javac @own", "javac -- -J-Xmx1g",
        "javac -Xplugin:x Main.java", "javac -d ../x Main.java", "javac --system=. Main.java", "javac /etc/passwd",
        "javac -bootclasspath . Main.java", "javac --patch-module=x=. Main.java"),
        attacks={"options from a file": ("javac @own Main.java", {"@own": "", "own": "-d CANARY\n"})}),
    "java": Case("java -Xmx256m -ea Main.java 1 2", {"Main.java": MAIN}, "it runs 2", refused=(
        "java -agentpath:./x.so Main.java", "java -agentlib:x Main.java", "java -javaagent:x.jar Main.java",
        "java -XX:OnOutOfMemoryError=id Main.java", "java -XX:Flags=own Main.java", "java -Xlog:gc:file=/tmp/x Main.java",
        "java -Xbootclasspath/a:x Main.java", "java -Djava.library.path=. Main.java", "java /etc/Main.java", "java -jar /etc/x.jar",
        "java -Xrunjdwp:x Main.java", "java @own Main.java",
        "java @own -agentpath:./x.so Main.java", "java -- -agentpath:./x.so", "java --upgrade-module-path=. Main.java", "java -XX:+UseSerialGC Main.java"),
        attacks={"writes outside": ("java Evil.java", {"Evil.java": EVIL}),
                 "starts a program": ("java Evil.java x", {"Evil.java": EVIL})}),
    "mvn": Case("mvn -B validate", {"pom.xml": POM}, "BUILD SUCCESS", then=("mvn -q -ntp -DskipTests validate",), refused=(
        "mvn -s own.xml validate", "mvn --settings=own.xml validate", "mvn -gs own.xml x", "mvn -l /tmp/x validate",
        "mvn -Dmaven.repo.local=/tmp validate", "mvn -Dexec.executable=sh exec:exec", "mvn -Dmaven.ext.class.path=x.jar validate",
        "mvn -f /etc/pom.xml validate", "mvn -ep x", "mvn --encrypt-master-password x", "mvn -t own validate", "mvn -U validate",
        "mvn -b x validate", "mvn ../x"),
        attacks={"options of the machine": ("mvn -B validate", {".mvn/jvm.config": "-Xlog:gc:file=CANARY\n"})}),
    "gradle": Case("gradle hello build", {"build.gradle": GRADLE, "src/main/java/Main.java": MAIN}, "it runs",
                   then=("gradle --console=plain test",),
                   env={"GRADLE_USER_HOME": "OUTSIDE/gradle"}, refused=(
        "gradle -I own.gradle build", "gradle --init-script=own.gradle build", "gradle -g /tmp build", "gradle -c own build",
        "gradle --include-build .. build", "gradle -Dx=y build", "gradle -Px=y build", "gradle --scan build", "gradle --daemon build",
        "gradle -p .. build", "gradle -b /etc/x build", "gradle --project-cache-dir=/tmp build", "gradle --stop", "gradle -t build",
        "gradle --gui", "gradle build -- -I own.gradle"),
        attacks={"a build script writes outside": ("gradle --no-daemon build", {"build.gradle": "new File('CANARY').text = 'x'\n"}),
                 "a build script starts a program": ("gradle --no-daemon build", {"build.gradle":
                     "['perl', '-e', 'open F, q(>CANARY)'].execute().waitFor()\n"})}),
}


def test_table_has_every_entry():
    assert set(TABLE) == set(catalog.family("java"))


@pytest.mark.parametrize("name", TABLE)
def test_arguments_are_refused(user_box, name):
    catalog.check_refused(user_box, name, TABLE[name])


if full():  # a machine takes long to start, and the JDK is large
    @pytest.mark.parametrize("name", catalog.chosen(TABLE))
    def test_ordinary_work(cell, name):
        catalog.check_work(cell, name, TABLE[name])

    @pytest.mark.parametrize("name, attack", catalog.chosen_attacks(TABLE))
    def test_attack_stays_in_the_jail(cell, name, attack):
        catalog.check_attack(cell, name, TABLE[name], attack)
