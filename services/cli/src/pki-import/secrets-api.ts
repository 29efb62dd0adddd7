/** Client for `/v1` of Keelson or of another product. */
import type { Document } from '../client/api-client.ts';
import { PacedServer, RefusedRequest, unlessAbsent } from '../importing/paced-server.ts';

export class SecretsApi {
  readonly #server: PacedServer;

  /** @param credentials headers with the token and, if there is one, the namespace */
  constructor(address: string, credentials: Readonly<Record<string, string>>) {
    this.#server = new PacedServer(new URL('/v1/', address), credentials);
  }

  /** The `data` of an answer; undefined if the path does not exist. */
  async find(path: string): Promise<Document> {
    const response = await unlessAbsent(this.#server.call(path));
    return response && ((await response.json()) as Document).data;
  }

  async list(path: string): Promise<readonly string[]> {
    return (await this.find(`${path}?list=true`))?.keys ?? [];
  }

  /** undefined if the server has no such list. An empty list is answered with 404 and no reason. */
  async listIfOffered(path: string): Promise<readonly string[] | undefined> {
    try {
      const response = await this.#server.call(`${path}?list=true`);
      return ((await response.json()) as Document).data.keys;
    } catch (error) {
      if (!(error instanceof RefusedRequest)) throw error;
      return error.reason === '' ? [] : undefined;
    }
  }

  /** The whole answer, undefined if it has no text. */
  async send(method: 'POST' | 'PATCH', path: string, body: object = {}): Promise<Document> {
    const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const response = await this.#server.call(path, {
      method,
      body: JSON.stringify(body),
      contentType,
    });
    const text = await response.text();
    return text === '' ? undefined : JSON.parse(text);
  }
}
