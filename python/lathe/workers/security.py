"""Who may talk to whom: certificates, and what is open to everybody."""
import os
import urllib.parse

from distributed.security import Security

from lathe.error import Error

HERE = ("localhost", "127.0.0.1", "::1", "")


def add_options(parser):
    """Adds the options that clients and workers share."""
    parser.add_argument("--tls-ca", "--tls-ca-file", metavar="FILE",
                        help="who signs the certificates")
    parser.add_argument("--tls-cert", metavar="FILE", help="this one's certificate")
    parser.add_argument("--tls-key", metavar="FILE", help="its key")
    parser.add_argument("--insecure", action="store_true",
                        help="allow an address beyond this machine without certificates")


def security(given):
    """Returns Dask's certificates: those of the options, or else of Dask's own configuration."""
    files = {"tls_ca_file": given.tls_ca, "tls_client_cert": given.tls_cert,
             "tls_client_key": given.tls_key, "tls_worker_cert": given.tls_cert,
             "tls_worker_key": given.tls_key, "tls_scheduler_cert": given.tls_cert,
             "tls_scheduler_key": given.tls_key}
    files = {name: path for name, path in files.items() if path}
    for path in files.values():
        if not os.path.exists(path):
            raise Error(f"there is no certificate '{path}'")
    return Security(**files, require_encryption=True) if files else Security()


def check_address(address, given):
    """Fails if an address is none, or if it is open to everybody and nobody said that this is
    meant."""
    parts = urllib.parse.urlsplit(address)
    try:
        known = parts.scheme in ("tcp", "tls") and parts.hostname and parts.port
    except ValueError:
        known = False
    if not known:
        raise Error(f"'{address}' is no address of a scheduler: write tcp://HOST:PORT or "
                    "tls://HOST:PORT")
    if parts.scheme == "tcp" and parts.hostname not in HERE:
        check_encrypted(given, f"'{address}' is not on this machine, and not encrypted")
    if parts.scheme == "tls" and not security(given).require_encryption:
        raise Error(f"'{address}' needs certificates: give --tls-ca, --tls-cert and --tls-key, or "
                    "set them where Dask reads its configuration")


def check_encrypted(given, what):
    """Fails unless there are certificates, or --insecure was given."""
    if not given.insecure and not security(given).require_encryption:
        raise Error(f"{what}: whoever reaches it can run programs there. Give certificates "
                    "(--tls-ca, --tls-cert, --tls-key), or --insecure where the network is your "
                    "own")


def why(error):
    """Says in a line why a connection failed: a certificate that expired, nobody there, ...

    >>> why(OSError("Timed out trying to connect"))
    'Timed out trying to connect'
    """
    reasons, seen = [], set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        reasons.append(str(error).strip().splitlines()[0] if str(error).strip()
                       else type(error).__name__)
        error = error.__cause__ or error.__context__
    told = [reason for reason in reasons if "certificate" in reason.lower()]
    return (told or reasons)[-1] if told else reasons[0]
