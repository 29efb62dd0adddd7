/** Requests over connections that show a certificate of the client, which `fetch` of the platform cannot. */
import { readFileSync } from 'node:fs';
import { request as sendRequest } from 'node:https';
import { text as readText } from 'node:stream/consumers';
import { createSecureContext } from 'node:tls';
import { CliFailure } from './failure.ts';

/** PEM texts. */
export interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
}

const readPem = (file: string, option: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new CliFailure(`${file} of ${option} cannot be read: ${(error as Error).message}`);
  }
};

/** @throws CliFailure if a file cannot be read, or the key is not that of the certificate */
export const readClientCertificate = (certFile: string, keyFile: string): ClientCertificate => {
  const cert = readPem(certFile, '--client-cert');
  const key = readPem(keyFile, '--client-key');
  try {
    createSecureContext({ cert, key });
  } catch {
    throw new CliFailure(
      `${certFile} and ${keyFile} must be a certificate in PEM and its key without a password.`,
    );
  }
  return { cert, key };
};

/** Sends a text, as `fetch` does. */
export const fetchWith =
  (certificate: ClientCertificate) =>
  (
    url: URL,
    init: { readonly method: string; readonly headers: object; readonly body?: unknown },
  ) =>
    new Promise<Response>((resolve, reject) => {
      const fail = (cause: unknown): void => reject(new TypeError('fetch failed', { cause }));
      const options = { ...certificate, method: init.method, headers: { ...init.headers } };
      const request = sendRequest(url, options, (answer) => {
        readText(answer).then(
          (text) =>
            resolve(new Response(text === '' ? null : text, { status: answer.statusCode ?? 0 })),
          fail,
        );
      });
      request.on('error', fail);
      request.end(init.body);
    });
