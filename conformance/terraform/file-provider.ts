/**
 * A terraform provider with one kind of resource, `files_file`: a file with a content. Unlike the resources
 * built into the tool, it can be changed behind the tool's back. It speaks version 5 of the plugin protocol;
 * the tool starts it without TLS.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { Server, ServerCredentials, type UntypedServiceImplementation } from '@grpc/grpc-js';

/** The bytes of a message's length-delimited fields, by field number. */
type Fields = ReadonlyMap<number, Uint8Array>;

const decode = (bytes: Uint8Array): Fields => {
  const reader = new BinaryReader(bytes);
  const fields = new Map<number, Uint8Array>();
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (wireType === WireType.LengthDelimited) fields.set(number, reader.bytes());
    else reader.skip(wireType);
  }
  return fields;
};

const encode = (fields: readonly (readonly [number, Uint8Array | string])[]): Buffer => {
  const writer = new BinaryWriter();
  for (const [number, value] of fields) {
    writer.tag(number, WireType.LengthDelimited);
    if (typeof value === 'string') writer.string(value);
    else writer.bytes(value);
  }
  return Buffer.from(writer.finish());
};

const NOTHING = encode([]);

interface FileValue {
  readonly path: string;
  readonly content: string;
}

const NIL = 0xc0;
const SHORT_MAP = 0x80;
const SHORT_TEXT = 0xa0;
const TEXT_8 = 0xd9;
const TEXT_16 = 0xda;

/** A MessagePack map of texts, as the schema has them; undefined where it is nil. */
const fromMessagePack = (bytes: Uint8Array): FileValue | undefined => {
  const buffer = Buffer.from(bytes);
  let at = 0;
  const text = (): string => {
    const kind = buffer[at++] ?? NIL;
    let length = kind - SHORT_TEXT;
    if (kind === TEXT_8) length = buffer.readUInt8(at++);
    if (kind === TEXT_16) {
      length = buffer.readUInt16BE(at);
      at += 2;
    }
    const found = buffer.toString('utf8', at, at + length);
    at += length;
    return found;
  };
  const kind = buffer[at++] ?? NIL;
  if (kind === NIL) return undefined;
  const values = new Map(Array.from({ length: kind - SHORT_MAP }, () => [text(), text()] as const));
  return { path: values.get('path') ?? '', content: values.get('content') ?? '' };
};

const IN_MESSAGE_PACK = 1;
const IN_JSON = 2;

const fromDynamic = (value: Uint8Array | undefined): FileValue | undefined =>
  fromMessagePack(decode(value ?? NOTHING).get(IN_MESSAGE_PACK) ?? Uint8Array.of(NIL));

const toDynamic = (value: object | null): Buffer => encode([[IN_JSON, JSON.stringify(value)]]);

const attribute = (name: string): Buffer => {
  const writer = new BinaryWriter();
  writer.uint32(10).string(name).uint32(18).string('"string"');
  // Required.
  return Buffer.from(writer.uint32(32).bool(true).finish());
};

const schema = (attributes: readonly string[]): Buffer =>
  encode([[2, encode(attributes.map((name) => [2, attribute(name)] as const))]]);

/** Content of a created file; null if it no longer exists. */
const readBack = (known: FileValue | undefined): FileValue | null =>
  known !== undefined && existsSync(known.path)
    ? { path: known.path, content: readFileSync(known.path, 'utf8') }
    : null;

const apply = (prior: FileValue | undefined, planned: FileValue | undefined): FileValue | null => {
  if (prior !== undefined && prior.path !== planned?.path) rmSync(prior.path, { force: true });
  if (planned !== undefined) writeFileSync(planned.path, planned.content);
  return planned ?? null;
};

const SCHEMAS = encode([
  [1, schema([])],
  [
    2,
    encode([
      [1, 'files_file'],
      [2, schema(['path', 'content'])],
    ]),
  ],
]);

/** Answers by method; fields as the protocol numbers them. */
const METHODS: Readonly<Record<string, (request: Fields) => Buffer>> = {
  GetSchema: () => SCHEMAS,
  PrepareProviderConfig: (request) => encode([[1, request.get(1) ?? NOTHING]]),
  Configure: () => NOTHING,
  ValidateResourceTypeConfig: () => NOTHING,
  UpgradeResourceState: (request) => {
    const kept = decode(request.get(3) ?? NOTHING).get(1) ?? NOTHING;
    return encode([[1, encode([[IN_JSON, kept]])]]);
  },
  ReadResource: (request) => encode([[1, toDynamic(readBack(fromDynamic(request.get(2))))]]),
  PlanResourceChange: (request) => encode([[1, request.get(3) ?? NOTHING]]),
  ApplyResourceChange: (request) =>
    encode([[1, toDynamic(apply(fromDynamic(request.get(2)), fromDynamic(request.get(3))))]]),
  Stop: () => NOTHING,
};

const server = new Server();

const addService = (name: string, methods: typeof METHODS): void => {
  const answers: UntypedServiceImplementation = {};
  const definition = Object.fromEntries(
    Object.entries(methods).map(([method, answer]) => {
      answers[method] = (call: { request: Buffer }, done: (error: null, reply: Buffer) => void) =>
        done(null, answer(decode(call.request)));
      return [
        method,
        {
          path: `/${name}/${method}`,
          requestStream: false,
          responseStream: false,
          requestSerialize: (bytes: Buffer) => bytes,
          requestDeserialize: (bytes: Buffer) => bytes,
          responseSerialize: (bytes: Buffer) => bytes,
          responseDeserialize: (bytes: Buffer) => bytes,
        },
      ];
    }),
  );
  server.addService(definition, answers);
};

addService('tfplugin5.Provider', METHODS);
addService('plugin.GRPCController', {
  Shutdown: () => {
    setImmediate(() => server.forceShutdown());
    return NOTHING;
  },
});

const socket = join(process.env['TMPDIR'] ?? '/tmp', `files-${process.pid}.sock`);
server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), (error) => {
  if (error !== null) throw error;
  // Core version, version of the protocol, where to find it.
  process.stdout.write(`1|5|unix|${socket}|grpc|\n`);
});
