"""postgres.py: a server of PostgreSQL for tests: in a temporary folder, on a unix socket, as an ordinary user."""
import glob
import os
import shutil
import signal
import subprocess
import tempfile
import time

SETTINGS = """
listen_addresses = ''
unix_socket_directories = '{folder}'
shared_buffers = 32MB
max_connections = 60
fsync = {fsync}
full_page_writes = {fsync}
logging_collector = off
autovacuum = on
"""


def programs():
    """The folder of initdb and postgres; None where the server is not installed."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"), key=lambda p: float(p.split("/")[4]))
    where = found[-1] if found else shutil.which("initdb")
    return os.path.dirname(os.path.realpath(where)) if where else None


class Server:
    def __init__(self, fsync=False):
        """fsync: whether it survives a loss of power. What is killed here loses nothing of the page cache."""
        self.folder = tempfile.mkdtemp(prefix="mwl-pg-")
        self.data = os.path.join(self.folder, "data")
        self.log = os.path.join(self.folder, "log")
        self.process = None
        self.user = []
        if os.geteuid() == 0:  # the server refuses root
            shutil.chown(self.folder, "nobody", "nogroup")
            self.user = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
        os.chmod(self.folder, 0o755)
        self.run("initdb", "-D", self.data, "-U", "mwl", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        with open(os.path.join(self.data, "postgresql.conf"), "a") as f:
            f.write(SETTINGS.format(folder=self.folder, fsync="on" if fsync else "off"))
        self.uri = f"postgresql://mwl@/postgres?host={self.folder}"
        self.start()

    def run(self, program, *words):
        subprocess.run([*self.user, os.path.join(programs(), program), *words], check=True, cwd=self.folder,
                       stdout=subprocess.DEVNULL)

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen([*self.user, os.path.join(programs(), "postgres"), "-D", self.data],
                                            cwd=self.folder, stdout=log, stderr=log)
        for _ in range(3000):
            if self.process.poll() is not None:  # after a kill, old backends may still be there
                time.sleep(0.1)
                return self.start()
            if subprocess.run(["psql", self.uri, "-c", "select 1"], capture_output=True).returncode == 0:
                return None
            time.sleep(0.02)
        raise AssertionError("the server does not start")

    def kill(self):
        """kill -9 of the postmaster; its backends end when they notice."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def sql(self, text, check=True):
        got = subprocess.run(["psql", self.uri, "-X", "-A", "-t", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-c", text],
                             capture_output=True, text=True)
        if check and got.returncode != 0:
            raise AssertionError(got.stderr)
        return [line.split("\t") for line in got.stdout.splitlines()]

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
