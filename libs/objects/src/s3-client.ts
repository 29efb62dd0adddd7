/** Signed requests to a bucket of S3-compatible storage. */
import { createHash } from 'node:crypto';
import type { AwsV4Signer } from 'aws4fetch';
import type { Agent, fetch, Response } from 'undici';
import { textOf } from './s3-xml.ts';

export interface S3Options {
  /** Such as https://s3.eu-central-1.amazonaws.com or http://127.0.0.1:9000. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** Whether the bucket is part of the path of an address; otherwise it is part of the host name. */
  readonly pathStyle: boolean;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Limits the connection, the time to the head of an answer, and each pause in a body. */
  readonly timeoutMs: number;
}

export interface S3Request {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE';
  /** Absent for a request about the bucket. */
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

/** An answer that refuses a request, such as 403 AccessDenied. */
export class S3Refusal extends Error {
  readonly status: number;
  /** The code in the document of the answer; empty if the document names no code. */
  readonly code: string;

  constructor(status: number, document: string) {
    const code = textOf(document, 'Code') ?? '';
    super(`${status} ${code}`.trim());
    this.status = status;
    this.code = code;
  }
}

/** @returns the address of the bucket, without a trailing slash */
export const bucketUrl = ({ endpoint, bucket, pathStyle }: S3Options): string => {
  const url = new URL(endpoint);
  if (!pathStyle) url.hostname = `${bucket}.${url.hostname}`;
  return `${url.href.replace(/\/$/, '')}${pathStyle ? `/${bucket}` : ''}`;
};

interface Parts {
  readonly agent: Agent;
  readonly send: typeof fetch;
  readonly Signer: typeof AwsV4Signer;
}

export class S3Client {
  readonly #options: S3Options;
  readonly #parts: Parts;

  constructor(options: S3Options, parts: Parts) {
    this.#options = options;
    this.#parts = parts;
  }

  /**
   * Sends a request once.
   * @returns the answer, whose body the caller must read
   * @throws S3Refusal for a status of 300 and above
   */
  async open({ method, key, query = {}, headers = {}, body }: S3Request): Promise<Response> {
    const { region, accessKeyId, secretAccessKey } = this.#options;
    const { Signer, send, agent } = this.#parts;
    const url = new URL(`${bucketUrl(this.#options)}${key === undefined ? '' : `/${key}`}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const signed = await new Signer({
      method,
      url: url.href,
      headers: {
        ...headers,
        'x-amz-content-sha256': createHash('sha256')
          .update(body ?? '')
          .digest('hex'),
      },
      accessKeyId,
      secretAccessKey,
      service: 's3',
      region,
    }).sign();
    const answer = await send(signed.url, {
      method,
      headers: [...signed.headers],
      redirect: 'error',
      dispatcher: agent,
      ...(body !== undefined && { body }),
    });
    if (answer.ok) return answer;
    throw new S3Refusal(answer.status, await answer.text());
  }

  /**
   * @returns the document of the answer, often empty, and its entity tag
   * @throws S3Refusal also for a success that contains an error, as the completion of an upload may
   */
  async request(request: S3Request): Promise<{ document: string; etag: string }> {
    const answer = await this.open(request);
    const document = await answer.text();
    if (textOf(document, 'Error') !== undefined) throw new S3Refusal(answer.status, document);
    return { document, etag: answer.headers.get('etag') ?? '' };
  }

  async close(): Promise<void> {
    await this.#parts.agent.destroy();
  }
}

/** Loads the HTTP client only where a storage is used, because it takes memory. No request is sent. */
export const connectS3 = async (options: S3Options): Promise<S3Client> => {
  const { timeoutMs } = options;
  const [{ AwsV4Signer: Signer }, { Agent, fetch: send }] = await Promise.all([
    import('aws4fetch'),
    import('undici'),
  ]);
  const agent = new Agent({
    connect: { timeout: timeoutMs },
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
  });
  return new S3Client(options, { agent, send, Signer });
};
