/**
 * Key stores in PKCS #12 form (RFC 7292): a private key with its certificate and the chain, under a
 * password. The structure is encoded with node-forge's ASN.1 module. Its own PKCS #12 builder
 * supports only RSA keys and SHA-1; here a key of any type is stored as PKCS #8, and keys and
 * certificates are encrypted with AES-256 under PBKDF2 with SHA-256 (PBES2, RFC 8018), which
 * OpenSSL 3, Java and NSS can read; or with Triple DES and SHA-1 (RFC 7292 appendix C) for programs that
 * read nothing newer, such as Windows Server 2016.
 */
import { createCipheriv, createHmac, hash, pbkdf2, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { KeelsonError } from '@keelson/errors';
import type { asn1 as Asn1Library } from 'node-forge';

type Asn1 = typeof Asn1Library;
type Node = Asn1Library.Asn1;

const OID = {
  data: '1.2.840.113549.1.7.1',
  encryptedData: '1.2.840.113549.1.7.6',
  shroudedKeyBag: '1.2.840.113549.1.12.10.1.2',
  certificateBag: '1.2.840.113549.1.12.10.1.3',
  x509Certificate: '1.2.840.113549.1.9.22.1',
  friendlyName: '1.2.840.113549.1.9.20',
  localKeyId: '1.2.840.113549.1.9.21',
  pbes2: '1.2.840.113549.1.5.13',
  pbkdf2: '1.2.840.113549.1.5.12',
  pbeWithSha1AndTripleDes: '1.2.840.113549.1.12.1.3',
  hmacSha256: '1.2.840.113549.2.9',
  aes256Cbc: '2.16.840.1.101.3.4.1.42',
  sha1: '1.3.14.3.2.26',
  sha256: '2.16.840.1.101.3.4.2.1',
  /**
   * Java's attribute for trusted certificates; keytool does not list a certificate that has neither
   * it nor a key.
   */
  trustedKeyUsage: '2.16.840.1.113894.746875.1.1',
  anyExtendedKeyUsage: '2.5.29.37.0',
} as const;

/**
 * The default of Java's keytool; the integrity check is as expensive to guess against as the
 * encryption.
 */
const ITERATIONS = 10_000;
const SALT_BYTES = 16;
const AES_KEY_BYTES = 32;
const AES_BLOCK_BYTES = 16;
const TRIPLE_DES_KEY_BYTES = 24;
const TRIPLE_DES_BLOCK_BYTES = 8;
const VERSION = 3;

/** `legacy`: Triple DES and SHA-1. */
export type KeyStoreAlgorithms = 'current' | 'legacy';

export interface KeyStore {
  /** PKCS #8, DER; undefined for a store of certificates only. */
  readonly privateKeyDer: Uint8Array | undefined;
  readonly certificateDer: Uint8Array;
  /** CA certificates, starting with the issuer. */
  readonly chain: readonly Uint8Array[];
  /** Name under which programs show the entry. */
  readonly friendlyName: string;
  /** Printable ASCII; see `checkStorePassword`. Secret. */
  readonly password: string;
  readonly algorithms: KeyStoreAlgorithms;
}

const PASSWORD = /^[\u0020-\u007e]{6,128}$/;

/**
 * @throws KeelsonError `request.invalid` for a password that some program cannot use: keytool
 * requires six characters, and Java opens no store, whatever its algorithms, under a password that
 * is not ASCII
 */
export const checkStorePassword = (password: string): void => {
  if (!PASSWORD.test(password))
    throw new KeelsonError('request.invalid', {
      text: 'the "password" of a PKCS #12 store must have 6 to 128 printable ASCII characters: Java opens no store under another',
    });
};

const toOctets = (binary: string): Buffer => Buffer.from(binary, 'latin1');
const toBinary = (octets: Uint8Array): string => Buffer.from(octets).toString('latin1');

/** Short constructors for the ASN.1 nodes of a store. */
const writerOf = (asn1: Asn1) => {
  const { Class, Type } = asn1;
  const universal = (type: number, value: string): Node =>
    asn1.create(Class.UNIVERSAL, type, false, value);
  const constructed = (type: number, nodes: readonly Node[]): Node =>
    asn1.create(Class.UNIVERSAL, type, true, [...nodes]);
  const toDer = (node: Node): Buffer => toOctets(asn1.toDer(node).getBytes());
  return {
    sequence: (...nodes: readonly Node[]) => constructed(Type.SEQUENCE, nodes),
    /** DER orders the members of a SET OF by their encoding. */
    set: (...nodes: readonly Node[]) =>
      constructed(
        Type.SET,
        nodes.toSorted((one, other) => toDer(one).compare(toDer(other))),
      ),
    oid: (text: string) => universal(Type.OID, asn1.oidToDer(text).getBytes()),
    integer: (value: number) => universal(Type.INTEGER, asn1.integerToDer(value).getBytes()),
    nothing: () => universal(Type.NULL, ''),
    octets: (value: Uint8Array) => universal(Type.OCTETSTRING, toBinary(value)),
    bmpString: (text: string) => universal(Type.BMPSTRING, text),
    explicit: (node: Node) => asn1.create(Class.CONTEXT_SPECIFIC, 0, true, [node]),
    /** [0] IMPLICIT OCTET STRING. */
    implicitOctets: (value: Uint8Array) =>
      asn1.create(Class.CONTEXT_SPECIFIC, 0, false, toBinary(value)),
    toDer,
  };
};

type Writer = ReturnType<typeof writerOf>;

const deriveKey = promisify(pbkdf2);

interface Encrypted {
  readonly algorithm: Node;
  readonly ciphertext: Uint8Array;
}

const HASH_BLOCK_BYTES = 64;
/** The purposes of derived octets, RFC 7292 appendix B.3. */
const PURPOSE = { key: 1, iv: 2, macKey: 3 } as const;

const repeatToBlocks = (octets: Uint8Array): Buffer =>
  Buffer.alloc(Math.ceil(octets.byteLength / HASH_BLOCK_BYTES) * HASH_BLOCK_BYTES, octets);

/** A block plus another plus one, as numbers, without the carry out of the block. */
const addBlocks = (block: Uint8Array, addend: Uint8Array): void => {
  let carry = 1;
  for (let index = block.byteLength - 1; index >= 0; index--) {
    carry += (block[index] ?? 0) + (addend[index] ?? 0);
    block[index] = carry & 0xff;
    carry >>= 8;
  }
};

/** RFC 7292 appendix B.2; the password is a BMPString with its terminator, as in appendix B.1. */
const deriveOctets = (
  digest: 'sha1' | 'sha256',
  purpose: number,
  password: string,
  salt: Uint8Array,
  length: number,
): Buffer => {
  const terminated = Buffer.from(`${password}\0`, 'utf16le').swap16();
  const input = Buffer.concat([repeatToBlocks(salt), repeatToBlocks(terminated)]);
  const derived: Buffer[] = [];
  for (let count = 0; count < length; count += derived.at(-1)?.byteLength ?? 0) {
    let octets: Buffer = Buffer.concat([Buffer.alloc(HASH_BLOCK_BYTES, purpose), input]);
    for (let round = 0; round < ITERATIONS; round++) octets = hash(digest, octets, 'buffer');
    derived.push(octets);
    const addend = Buffer.alloc(HASH_BLOCK_BYTES, octets);
    for (let at = 0; at < input.byteLength; at += HASH_BLOCK_BYTES)
      addBlocks(input.subarray(at, at + HASH_BLOCK_BYTES), addend);
  }
  return Buffer.concat(derived).subarray(0, length);
};

/** pbeWithSHAAnd3-KeyTripleDES-CBC. */
const encryptLegacy = (w: Writer, password: string, content: Uint8Array): Encrypted => {
  const salt = randomBytes(SALT_BYTES);
  const key = deriveOctets('sha1', PURPOSE.key, password, salt, TRIPLE_DES_KEY_BYTES);
  const iv = deriveOctets('sha1', PURPOSE.iv, password, salt, TRIPLE_DES_BLOCK_BYTES);
  const cipher = createCipheriv('des-ede3-cbc', key, iv);
  const ciphertext = Buffer.concat([cipher.update(content), cipher.final()]);
  key.fill(0);
  return {
    algorithm: w.sequence(
      w.oid(OID.pbeWithSha1AndTripleDes),
      w.sequence(w.octets(salt), w.integer(ITERATIONS)),
    ),
    ciphertext,
  };
};

/** PBES2 with PBKDF2-HMAC-SHA-256 and AES-256-CBC. */
const encryptCurrent = async (
  w: Writer,
  password: string,
  content: Uint8Array,
): Promise<Encrypted> => {
  const salt = randomBytes(SALT_BYTES);
  const iv = randomBytes(AES_BLOCK_BYTES);
  const key = await deriveKey(password, salt, ITERATIONS, AES_KEY_BYTES, 'sha256');
  const cipher = createCipheriv('aes-256-cbc', key, iv);
  const ciphertext = Buffer.concat([cipher.update(content), cipher.final()]);
  key.fill(0);
  const derivation = w.sequence(
    w.oid(OID.pbkdf2),
    w.sequence(
      w.octets(salt),
      w.integer(ITERATIONS),
      w.integer(AES_KEY_BYTES),
      w.sequence(w.oid(OID.hmacSha256), w.nothing()),
    ),
  );
  const cipherIdentifier = w.sequence(w.oid(OID.aes256Cbc), w.octets(iv));
  return {
    algorithm: w.sequence(w.oid(OID.pbes2), w.sequence(derivation, cipherIdentifier)),
    ciphertext,
  };
};

type Encrypt = (content: Uint8Array) => Promise<Encrypted>;

/** MacData of the content: HMAC with SHA-256, or with SHA-1. */
const macOf = (w: Writer, { password, algorithms }: KeyStore, content: Uint8Array): Node => {
  const digest = algorithms === 'legacy' ? 'sha1' : 'sha256';
  const salt = randomBytes(SALT_BYTES);
  const length = hash(digest, '', 'buffer').byteLength;
  const key = deriveOctets(digest, PURPOSE.macKey, password, salt, length);
  const mac = createHmac(digest, key).update(content).digest();
  return w.sequence(
    w.sequence(w.sequence(w.oid(OID[digest]), w.nothing()), w.octets(mac)),
    w.octets(salt),
    w.integer(ITERATIONS),
  );
};

const attribute = (w: Writer, oid: string, value: Node): Node =>
  w.sequence(w.oid(oid), w.set(value));

const certificateBag = (w: Writer, der: Uint8Array, attributes: readonly Node[]): Node =>
  w.sequence(
    w.oid(OID.certificateBag),
    w.explicit(w.sequence(w.oid(OID.x509Certificate), w.explicit(w.octets(der)))),
    ...(attributes.length > 0 ? [w.set(...attributes)] : []),
  );

/** ContentInfo of certificates, encrypted. */
const certificateContent = async (
  w: Writer,
  { certificateDer, chain }: KeyStore,
  encrypt: Encrypt,
  attributes: readonly Node[],
): Promise<Node> => {
  const bags = [
    certificateBag(w, certificateDer, attributes),
    ...chain.map((der) => certificateBag(w, der, [])),
  ];
  const encrypted = await encrypt(w.toDer(w.sequence(...bags)));
  return w.sequence(
    w.oid(OID.encryptedData),
    w.explicit(
      w.sequence(
        w.integer(0),
        w.sequence(w.oid(OID.data), encrypted.algorithm, w.implicitOctets(encrypted.ciphertext)),
      ),
    ),
  );
};

const dataContent = (w: Writer, content: Uint8Array): Node =>
  w.sequence(w.oid(OID.data), w.explicit(w.octets(content)));

/** ContentInfo of the private key, which is encrypted separately. */
const keyContent = async (
  w: Writer,
  privateKeyDer: Uint8Array,
  encrypt: Encrypt,
  attributes: readonly Node[],
): Promise<Node> => {
  const { algorithm, ciphertext } = await encrypt(privateKeyDer);
  const bag = w.sequence(
    w.oid(OID.shroudedKeyBag),
    w.explicit(w.sequence(algorithm, w.octets(ciphertext))),
    w.set(...attributes),
  );
  return dataContent(w, w.toDer(w.sequence(bag)));
};

/** The bytes of a `.p12` file. The password must have passed `checkStorePassword`. */
export const encodeKeyStore = async (store: KeyStore): Promise<Uint8Array> => {
  // Loaded with the first store: the module is large, and most processes never create one.
  const { asn1 } = (await import('node-forge')).default;
  const w = writerOf(asn1);
  const { privateKeyDer, certificateDer, friendlyName, password, algorithms } = store;
  const encrypt: Encrypt = async (content) =>
    algorithms === 'legacy'
      ? encryptLegacy(w, password, content)
      : encryptCurrent(w, password, content);
  const name = attribute(w, OID.friendlyName, w.bmpString(friendlyName));
  const keyId = attribute(w, OID.localKeyId, w.octets(hash('sha1', certificateDer, 'buffer')));
  const trusted = attribute(w, OID.trustedKeyUsage, w.oid(OID.anyExtendedKeyUsage));
  const contents =
    privateKeyDer === undefined
      ? [await certificateContent(w, store, encrypt, [name, trusted])]
      : [
          await certificateContent(w, store, encrypt, [name, keyId]),
          await keyContent(w, privateKeyDer, encrypt, [name, keyId]),
        ];
  const content = w.toDer(w.sequence(...contents));
  return w.toDer(w.sequence(w.integer(VERSION), dataContent(w, content), macOf(w, store, content)));
};
