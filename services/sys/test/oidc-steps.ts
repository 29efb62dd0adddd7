/** Requests below `identity/oidc`, with the root token. */
import { expect } from 'vitest';
import type { Document, SysHarness } from './sys-harness.ts';

export const oidcSteps = (harness: () => SysHarness) => {
  /** A write that must succeed. */
  const post = async (path: string, body: Document = {}): Promise<Document> => {
    const answer = await harness().asRoot('POST', `identity/oidc/${path}`, { body });
    expect([path, answer.status < 300, answer.body?.errors]).toEqual([path, true, undefined]);
    return answer.body;
  };
  return {
    post,
    newClient: (name: string, body: Document) => post(`client/${name}`, body),
    clientOf: async (name: string) => {
      const { data } = (await harness().asRoot('GET', `identity/oidc/client/${name}`)).body;
      return { id: String(data.client_id), secret: String(data.client_secret) };
    },
    /** The text with which a request is refused. */
    refusal: async (path: string, body: Document = {}, method = 'POST'): Promise<string> => {
      const answer = await harness().asRoot(method, `identity/oidc/${path}`, { body });
      expect([path, answer.status]).toEqual([path, 400]);
      return answer.body.errors[0];
    },
  };
};
