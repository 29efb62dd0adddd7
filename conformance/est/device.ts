/** A device that enrolls with curl and openssl only, without any code of Keelson on its side. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findBinary } from '@keelson/testkit';

const CURL = await findBinary('curl', 'curl');
const OPENSSL = await findBinary('openssl', 'openssl');
const run = promisify(execFile);

export interface Answer {
  readonly status: number;
  /** Lower case. */
  readonly headers: string;
  readonly body: string;
}

export const openssl = async (...args: readonly string[]): Promise<string> =>
  (await run(OPENSSL, args)).stdout;

/**
 * @param folder where its files are: "NAME.key", "NAME.pem", "NAME.p10"
 * @param https "https://host:port" of the server
 * @param caFile what the device trusts, PEM
 */
export const openDevice = ({
  folder,
  https,
  caFile,
}: {
  readonly folder: string;
  readonly https: string;
  readonly caFile: string;
}) => {
  const inFolder = (name: string): string => join(folder, name);
  return {
    /** A request below /.well-known/est. */
    curl: async (path: string, ...args: readonly string[]): Promise<Answer> => {
      const headers = inFolder('headers.txt');
      const { stdout } = await run(CURL, [
        '--silent',
        '--show-error',
        '--cacert',
        caFile,
        '--dump-header',
        headers,
        '--write-out',
        '\n%{http_code}',
        ...args,
        `${https}/.well-known/est/${path}`,
      ]);
      const end = stdout.lastIndexOf('\n');
      return {
        status: Number(stdout.slice(end + 1)),
        headers: (await readFile(headers, 'utf8')).toLowerCase(),
        body: stdout.slice(0, end),
      };
    },

    /** Writes the certificates of a response to a file, read by openssl. */
    certificatesOf: async ({ body }: Answer, name: string): Promise<readonly string[]> => {
      const der = inFolder('answer.p7');
      await writeFile(der, Buffer.from(body, 'base64'));
      const text = await openssl('pkcs7', '-inform', 'DER', '-in', der, '-print_certs');
      const pems = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n/g) ?? [];
      await writeFile(inFolder(name), pems.join(''));
      return pems;
    },

    /** Creates a key and a request for it, in base64 without PEM lines; returns its file. */
    newRequest: async (subject: string, name: string): Promise<string> => {
      const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
      const keyFile = inFolder(`${name}.key`);
      const pem = await openssl('req', '-new', ...key, '-keyout', keyFile, '-subj', subject);
      const file = inFolder(`${name}.p10`);
      await writeFile(file, pem.replaceAll(/-----.*-----\n/g, ''));
      return file;
    },

    /** Arguments of curl. */
    post: (file: string): readonly string[] => [
      '--header',
      'Content-Type: application/pkcs10',
      '--header',
      'Content-Transfer-Encoding: base64',
      '--data-binary',
      `@${file}`,
    ],

    /** Arguments of curl. */
    withCertificate: (name: string): readonly string[] => [
      '--cert',
      inFolder(`${name}.pem`),
      '--key',
      inFolder(`${name}.key`),
    ],
  };
};

export type Device = ReturnType<typeof openDevice>;
