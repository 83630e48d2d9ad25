"""Certificates of the test's own: an authority, and the certificates that it signs for servers on loopback."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

DAY = timedelta(days=1)


@dataclass(frozen=True)
class Authority:
    """Signs certificates. file: its own certificate, which clients trust."""

    folder: Path
    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @property
    def file(self) -> Path:
        return self.folder / "authority.pem"

    def server(self, host: str, *, ends_at: datetime | None = None, is_self_signed: bool = False) -> ssl.SSLContext:
        """Return the context of a server with a certificate for this host, valid until tomorrow by default."""
        key = ec.generate_private_key(ec.SECP256R1())
        made = _certificate(host, key, ends_at or datetime.now(UTC) + DAY)
        made = made.add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        if is_self_signed:
            signed = made.issuer_name(_name(host)).sign(key, hashes.SHA256())
        else:
            signed = made.issuer_name(self.certificate.subject).sign(self.key, hashes.SHA256())
        file = self.folder / f"{signed.serial_number}.pem"
        file.write_bytes(
            key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()) + signed.public_bytes(Encoding.PEM)
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context


def make_authority(folder: Path) -> Authority:
    """Make an authority that keeps its files here."""
    key = ec.generate_private_key(ec.SECP256R1())
    made = _certificate("An authority", key, datetime.now(UTC) + DAY).issuer_name(_name("An authority"))
    signed = made.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True).sign(
        key, hashes.SHA256()
    )
    found = Authority(folder, key, signed)
    found.file.write_bytes(signed.public_bytes(Encoding.PEM))
    return found


def _certificate(name: str, key: ec.EllipticCurvePrivateKey, ends_at: datetime) -> x509.CertificateBuilder:
    made = x509.CertificateBuilder().subject_name(_name(name)).public_key(key.public_key())
    made = made.serial_number(x509.random_serial_number())
    return made.not_valid_before(ends_at - 400 * DAY).not_valid_after(ends_at)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])
