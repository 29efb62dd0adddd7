/** The API server of a Kubernetes cluster as a test wants it: it issues tokens of service accounts, and reviews them. */
import { generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { writeCertificates } from './certificate-files.ts';
import { temporaryDirectory } from './temporary-directory.ts';

export const API_AUDIENCE = 'https://kubernetes.default.svc';

interface IssuedToken {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly audiences: readonly string[];
}

export interface Review {
  readonly token: string;
  readonly audiences?: readonly string[];
}

const statusOf = (
  issued: IssuedToken | undefined,
  { audiences = [API_AUDIENCE] }: Review,
): object => {
  const common = audiences.filter((audience) => issued?.audiences.includes(audience));
  if (issued === undefined || common.length === 0)
    return { user: {}, error: '[invalid bearer token]' };
  const { namespace, name, uid } = issued;
  const username = `system:serviceaccount:${namespace}:${name}`;
  const groups = ['system:serviceaccounts', 'system:authenticated'];
  return { authenticated: true, user: { username, uid, groups }, audiences: common };
};

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

const signToken = (privateKey: KeyObject, claims: object): string => {
  const data = `${encode({ alg: 'RS256', kid: 'cluster' })}.${encode(claims)}`;
  return `${data}.${sign('sha256', Buffer.from(data), privateKey).toString('base64url')}`;
};

/** Listens on 127.0.0.1 with a certificate of an authority of its own. */
export const startKubernetesApi = async () => {
  const folder = await temporaryDirectory();
  const files = await writeCertificates(folder.path);
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const issued = new Map<string, IssuedToken>();
  const uids = new Map<string, string>();
  const api = {
    url: '',
    caPem: await readFile(files.authorityFile, 'utf8'),
    publicPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    /** Tokens that may create reviews without being of an account. */
    reviewers: new Set<string>(),
    /** All questions, and who has asked them. */
    asked: [] as { readonly bearer: string; readonly review: Review; readonly path: string }[],
    /** In place of the answer. */
    answer: undefined as RequestListener | undefined,
    /** A token, as the TokenRequest API issues it. @param claims replaces some */
    issue: (
      account: string,
      audiences: readonly string[] = [API_AUDIENCE],
      claims: object = {},
    ): string => {
      const [namespace = '', name = ''] = account.split('/');
      const uid = uids.get(account) ?? randomUUID();
      uids.set(account, uid);
      const iat = Math.floor(Date.now() / 1000);
      const all = {
        iss: API_AUDIENCE,
        sub: `system:serviceaccount:${namespace}:${name}`,
        aud: audiences,
        iat,
        nbf: iat,
        exp: iat + 3600,
        jti: randomUUID(),
        'kubernetes.io': {
          namespace,
          pod: { name: `${name}-0`, uid: randomUUID() },
          serviceaccount: { name, uid },
        },
        ...claims,
      };
      const token = signToken(privateKey, all);
      issued.set(token, { namespace, name, uid, audiences });
      return token;
    },
    /** Labels of namespaces by their names. */
    labels: {} as Readonly<Record<string, Readonly<Record<string, string>>>>,
    uidOf: (account: string): string | undefined => uids.get(account),
    /** The account of a token is deleted. */
    revoke: (token: string): void => void issued.delete(token),
    stop: async (): Promise<void> => undefined,
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = (await text(request)) || '{"spec":{"token":""}}';
    const { spec } = JSON.parse(body) as { readonly spec: Review };
    const bearer = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    api.asked.push({ bearer, review: spec, path: request.url ?? '' });
    if (api.answer !== undefined) {
      api.answer(request, response);
      return;
    }
    const isKnown =
      api.reviewers.has(bearer) || issued.get(bearer)?.audiences.includes(API_AUDIENCE) === true;
    if (!isKnown) {
      response.writeHead(401).end('{}');
      return;
    }
    const [, namespace = ''] = /^\/api\/v1\/namespaces\/(.+)$/.exec(request.url ?? '') ?? [];
    if (namespace !== '') {
      const metadata = { name: namespace, labels: api.labels[namespace] };
      response.end(JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata }));
      return;
    }
    const status = statusOf(issued.get(spec.token), spec);
    const document = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec, status };
    response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(document));
  };
  const [cert, tlsKey] = await Promise.all(
    [files.certificateFile, files.keyFile].map((file) => readFile(file)),
  );
  const server = createServer({ cert, key: tlsKey }, (request, response) => {
    void answer(request, response);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  api.url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  api.stop = async () => {
    await new Promise<void>((stopped) => {
      server.close(() => stopped());
      server.closeAllConnections();
    });
    await folder[Symbol.asyncDispose]();
  };
  return api;
};

export type KubernetesApi = Awaited<ReturnType<typeof startKubernetesApi>>;
