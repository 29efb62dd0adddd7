/** States of a workspace, announced and uploaded as clients do. */
import { createHash } from 'node:crypto';
import type { Harness } from './workspace-harness.ts';

interface Content {
  readonly lineage?: string;
  readonly resources?: number;
  readonly padding?: string;
}

export const stateText = (
  serial: number,
  { lineage = 'l-1', resources = 1, padding }: Content = {},
): string =>
  JSON.stringify({
    version: 4,
    terraform_version: '1.11.4',
    serial,
    lineage,
    outputs: {
      plain: { value: ['a'], type: ['tuple', ['string']] },
      secret: { value: 'hidden', type: 'string', sensitive: true },
    },
    resources: Array.from({ length: resources }, (_, index) => ({
      mode: 'managed',
      type: 'terraform_data',
      name: `r${index}`,
      provider: 'provider["terraform.io/builtin/terraform"]',
      instances: [{ attributes: { padding } }],
    })),
  });

export const md5 = (text: string): string => createHash('md5').update(text).digest('hex');

/** An address of a state version: "state-upload", "json-state-download", … */
export const url = (data: { attributes: Record<string, unknown> }, name: string): string =>
  String(data.attributes[`hosted-${name}-url`]);

export const uploadsTo = (harness: Harness, workspaceId: string) => {
  const path = `/workspaces/${workspaceId}`;
  const announce = (serial: number, text: string, more: object = {}, token?: string) =>
    harness.call(
      'POST',
      `${path}/state-versions`,
      { data: { type: 'state-versions', attributes: { serial, md5: md5(text), ...more } } },
      token,
    );
  return {
    announce,
    lock: () => harness.call('POST', `${path}/actions/lock`),
    unlock: () => harness.call('POST', `${path}/actions/unlock`),
    upload: async (serial: number, content: Content = {}, more: object = {}) => {
      const text = stateText(serial, content);
      const { data } = await announce(serial, text, { lineage: content.lineage ?? 'l-1', ...more });
      const put = await harness.transfer('PUT', url(data, 'state-upload'), Buffer.from(text));
      return { id: data.id, text, status: put.status, data };
    },
    rollBack: (id: string) =>
      harness.call('PATCH', `${path}/state-versions`, {
        data: {
          type: 'state-versions',
          relationships: { 'rollback-state-version': { data: { type: 'state-versions', id } } },
        },
      }),
  };
};

export type StateUploads = ReturnType<typeof uploadsTo>;
