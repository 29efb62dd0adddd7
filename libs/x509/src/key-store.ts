/**
 * Key stores in PKCS #12 form (RFC 7292): a private key with its certificate and the chain, under a
 * password. The structure is encoded with node-forge's ASN.1 module. Its own PKCS #12 builder
 * supports only RSA keys and SHA-1; here a key of any type is stored as PKCS #8, and keys and
 * certificates are encrypted with AES-256 under PBKDF2 with SHA-256 (PBES2, RFC 8018), which
 * OpenSSL 3, Java and NSS can read.
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
  hmacSha256: '1.2.840.113549.2.9',
  aes256Cbc: '2.16.840.1.101.3.4.1.42',
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
const VERSION = 3;

export interface KeyStore {
  /** PKCS #8, DER; undefined for a store of certificates only. */
  readonly privateKeyDer: Uint8Array | undefined;
  readonly certificateDer: Uint8Array;
  /** The issuer first. */
  readonly chain: readonly Uint8Array[];
  /** Name under which programs show the entry. */
  readonly friendlyName: string;
  /** Printable ASCII; see `checkStorePassword`. Secret. */
  readonly password: string;
}

const PASSWORD = /^[\u0020-\u007e]{6,128}$/;

/**
 * @throws KeelsonError `request.invalid` for a password that some program cannot use: keytool
 * requires six characters, and programs encode characters outside ASCII differently
 */
export const checkStorePassword = (password: string): void => {
  if (!PASSWORD.test(password))
    throw new KeelsonError('request.invalid', {
      text: 'the "password" of a PKCS #12 store must have 6 to 128 printable ASCII characters',
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

/** PBES2 with PBKDF2-HMAC-SHA-256 and AES-256-CBC. */
const encrypt = async (w: Writer, password: string, content: Uint8Array): Promise<Encrypted> => {
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

const HASH_BLOCK_BYTES = 64;
/** RFC 7292 appendix B.3: the derived octets are the key of a MAC. */
const MAC_KEY_ID = 3;

const repeatToBlocks = (octets: Uint8Array): Buffer =>
  Buffer.alloc(Math.ceil(octets.byteLength / HASH_BLOCK_BYTES) * HASH_BLOCK_BYTES, octets);

/** RFC 7292 appendix B.2 with SHA-256, for a key as long as one hash. */
const deriveMacKey = (password: string, salt: Uint8Array): Buffer => {
  const terminated = Buffer.from(`${password}\0`, 'utf16le').swap16();
  let octets = Buffer.concat([
    Buffer.alloc(HASH_BLOCK_BYTES, MAC_KEY_ID),
    repeatToBlocks(salt),
    repeatToBlocks(terminated),
  ]);
  for (let count = 0; count < ITERATIONS; count++) octets = hash('sha256', octets, 'buffer');
  return octets;
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
  { certificateDer, chain, password }: KeyStore,
  attributes: readonly Node[],
): Promise<Node> => {
  const bags = [
    certificateBag(w, certificateDer, attributes),
    ...chain.map((der) => certificateBag(w, der, [])),
  ];
  const encrypted = await encrypt(w, password, w.toDer(w.sequence(...bags)));
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
  password: string,
  attributes: readonly Node[],
): Promise<Node> => {
  const { algorithm, ciphertext } = await encrypt(w, password, privateKeyDer);
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
  const { privateKeyDer, certificateDer, friendlyName, password } = store;
  const name = attribute(w, OID.friendlyName, w.bmpString(friendlyName));
  const keyId = attribute(w, OID.localKeyId, w.octets(hash('sha1', certificateDer, 'buffer')));
  const trusted = attribute(w, OID.trustedKeyUsage, w.oid(OID.anyExtendedKeyUsage));
  const contents =
    privateKeyDer === undefined
      ? [await certificateContent(w, store, [name, trusted])]
      : [
          await certificateContent(w, store, [name, keyId]),
          await keyContent(w, privateKeyDer, password, [name, keyId]),
        ];
  const content = w.toDer(w.sequence(...contents));
  const salt = randomBytes(SALT_BYTES);
  const mac = createHmac('sha256', deriveMacKey(password, salt)).update(content).digest();
  const digest = w.sequence(w.sequence(w.oid(OID.sha256), w.nothing()), w.octets(mac));
  return w.toDer(
    w.sequence(
      w.integer(VERSION),
      dataContent(w, content),
      w.sequence(digest, w.octets(salt), w.integer(ITERATIONS)),
    ),
  );
};
