/** Which capability the CPU time of a sample belongs to: that of the innermost call which is known. */
import type { CallFrame } from './cpu-profile.ts';

/** Time in which a thread waits. It is no CPU time. */
export const IDLE = 'waiting';

interface Rule {
  readonly capability: string;
  /** Part of the address of the source. */
  readonly source?: RegExp;
  readonly call?: RegExp;
}

/** The first that fits the innermost call wins, then the first that fits its caller, and so on. */
const RULES: readonly Rule[] = [
  { capability: IDLE, call: /^\(idle\)$/ },
  { capability: 'garbage collection', call: /^\(garbage collector\)$/ },
  { capability: 'keys and signatures', source: /node:internal\/crypto\/(?:sig|keygen|keys)/ },
  { capability: 'storage: encryption', source: /libs\/storage\/src\/barrier\// },
  { capability: 'storage: digests', source: /record-digest|libs\/storage\/src\/merkle\// },
  { capability: 'storage: projections', source: /libs\/storage\/src\/projections\// },
  {
    capability: 'storage: database',
    source: /libs\/storage\/src\/(?:sqlite|postgres)\/|node_modules\/pg|node:sqlite/,
  },
  { capability: 'storage: shapes', source: /libs\/storage\/src\/(?:shapes|collections)\// },
  { capability: 'storage: transactions', source: /libs\/storage\/src\// },
  { capability: 'audit', source: /src\/audit\// },
  {
    capability: 'logging',
    source: /libs\/logging\/|node_modules\/(?:pino|sonic-boom|thread-stream)/,
  },
  {
    capability: 'metrics',
    source: /libs\/(?:metrics|history)\/|node_modules\/prom-client|\/metrics\//,
  },
  { capability: 'validation', source: /node_modules\/(?:typebox|@sinclair|ajv|fast-uri)/ },
  { capability: 'X.509 and DER', source: /libs\/x509\// },
  { capability: 'access', source: /\/(?:access|tokens|policies|identity|limits|logins)\// },
  {
    capability: 'calls between processes',
    source: /libs\/rpc\/|node_modules\/@grpc|proto\/gen|node_modules\/(?:protobufjs|@bufbuild)/,
  },
  { capability: 'pki', source: /services\/pki\// },
  { capability: 'workspace', source: /services\/workspace\// },
  { capability: 'sys', source: /services\/(?:sys|auth)\/|libs\/(?:cluster-member|engine)\// },
  { capability: 'JSON:API and answers', source: /libs\/(?:jsonapi|secrets-api)\// },
  { capability: 'HTTP: gateway', source: /services\/gateway\/|libs\/edge\// },
  {
    capability: 'HTTP: Fastify',
    source: /node_modules\/(?:fastify|@fastify|find-my-way|light-my-request|avvio)/,
  },
  {
    capability: 'HTTP: Node',
    source:
      /node:_?http|node:internal\/http|node:net|node:tls|node:_tls|node:internal\/stream|node:events|node:internal\/streams/,
  },
  { capability: 'native code outside of calls', call: /^\(program\)$/ },
];

/** Time of calls that no rule knows. */
export const OTHER = 'other';

/** @param frames from the innermost call to the outermost */
export const capabilityOf = (frames: readonly CallFrame[]): string => {
  for (const { url, functionName } of frames) {
    const rule = RULES.find(
      ({ source, call }) => (source?.test(url) ?? true) && (call?.test(functionName) ?? true),
    );
    if (rule !== undefined) return rule.capability;
  }
  return OTHER;
};
