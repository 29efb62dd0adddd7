/** Client for `/api/v2` of Keelson or of another product. */
import type { Document } from '../client/api-client.ts';
import { PacedServer, unlessAbsent } from '../importing/paced-server.ts';

const MEDIA_TYPE = 'application/vnd.api+json';
const PAGE_SIZE = 100;

export interface WorkspaceServer {
  readonly address: string;
  readonly token: string;
}

export class WorkspaceApi {
  readonly #server: PacedServer;

  constructor({ address, token }: WorkspaceServer) {
    this.#server = new PacedServer(new URL('/api/v2/', address), {
      accept: `${MEDIA_TYPE}, */*`,
      authorization: `Bearer ${token}`,
    });
  }

  async get(path: string): Promise<Document> {
    return (await this.#server.call(path)).json();
  }

  /** undefined if the resource does not exist, or the token may not read it. */
  find(path: string): Promise<Document> {
    return unlessAbsent(this.get(path));
  }

  /** The resources on all pages of a list; empty if the server has no such list. */
  async list(path: string): Promise<readonly Document[]> {
    const found: Document[] = [];
    const separator = path.includes('?') ? '&' : '?';
    for (let page: number | null = 1; page !== null; ) {
      const answer: Document = await this.find(
        `${path}${separator}page[size]=${PAGE_SIZE}&page[number]=${page}`,
      );
      found.push(...(answer?.data ?? []));
      // Lists without pages have no `meta`.
      page = answer?.meta?.pagination?.['next-page'] ?? null;
    }
    return found;
  }

  /** @returns the document, undefined if the answer has none */
  async send(method: 'POST' | 'PATCH', path: string, body: object): Promise<Document> {
    const request = { method, body: JSON.stringify(body), contentType: MEDIA_TYPE };
    const text = await (await this.#server.call(path, request)).text();
    return text === '' ? undefined : JSON.parse(text);
  }

  /** @param url signed address of this server or of its store */
  async download(url: string): Promise<Buffer<ArrayBuffer>> {
    return Buffer.from(await (await this.#server.call(url)).arrayBuffer());
  }

  /** @param url signed address of this server, which may have another name for itself */
  async upload(url: string, body: Buffer<ArrayBuffer>): Promise<void> {
    const { pathname, search } = new URL(url);
    const contentType = 'application/octet-stream';
    await this.#server.call(`${pathname}${search}`, { method: 'PUT', body, contentType });
  }
}
