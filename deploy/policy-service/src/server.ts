/** HTTPS with client certificates in front of the rules. */
import { createPrivateKey } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { chooseSignatureScheme, createKeyPair, createSigner, describeKey } from '@keelson/x509';
import fastify from 'fastify';
import { Value } from 'typebox/value';
import { decide } from './decide.ts';
import { Question } from './question.ts';
import type { Rules } from './rules.ts';

export { parseRules, type Rules } from './rules.ts';

export interface PolicyServerOptions {
  readonly rules: Rules;
  /** PEM. */
  readonly certificate: string;
  readonly key: string;
  /** PEM of the CA that callers' certificates must come from; when not set, any caller is answered. */
  readonly callerAuthorities?: string | undefined;
  readonly address: string;
  /** Port; 0 picks a free one. */
  readonly port: number;
  readonly nowMs: () => number;
}

export interface PolicyServer {
  readonly port: number;
  close(): Promise<void>;
}

const BODY_LIMIT_BYTES = 2 * 1024 * 1024;

export const startPolicyServer = async (options: PolicyServerOptions): Promise<PolicyServer> => {
  const { rules, certificate: cert, key, callerAuthorities } = options;
  const { privateKeyDer } = await createKeyPair({ type: 'ec', bits: 256 });
  const templateKey = createPrivateKey({
    key: Buffer.from(privateKeyDer),
    format: 'der',
    type: 'pkcs8',
  });
  const signer = createSigner(templateKey, chooseSignatureScheme(describeKey(templateKey)));
  const app = fastify({
    logger: false,
    bodyLimit: BODY_LIMIT_BYTES,
    forceCloseConnections: true,
    https: {
      cert,
      key,
      minVersion: 'TLSv1.2',
      ...(callerAuthorities !== undefined && {
        ca: callerAuthorities,
        requestCert: true,
        rejectUnauthorized: true,
      }),
    },
  });
  app.get('/health', async () => ({ policies: Object.keys(rules.policies) }));
  app.post('/evaluate', async ({ body }, reply) =>
    Value.Check(Question, body)
      ? decide(rules, body, signer, options.nowMs())
      : reply.code(400).send({ error: 'this is not a question of request_version 1' }),
  );
  await app.listen({ host: options.address, port: options.port });
  return {
    port: (app.server.address() as AddressInfo).port,
    close: () => app.close(),
  };
};
