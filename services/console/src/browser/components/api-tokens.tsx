/** Tokens of the workspace API: a table with buttons that revoke them, and a button that makes one. */

import { useState } from 'react';
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import { callWorkspaces, type OneDocument, type Resource } from '../api/workspaces-api.ts';
import { ActionButton } from './action-button.tsx';
import { Commands, workspacesCurl } from './commands.tsx';
import { DataTable } from './data-table.tsx';
import { DeleteButton } from './delete-button.tsx';
import { FormActions, Input, Label } from './fields.tsx';
import { formatTime } from './format.ts';
import { PagedList } from './paged-list.tsx';
import { ShownOnce } from './shown-once.tsx';

export type ApiToken = ResourceAttributes['authentication-tokens'];

export const ApiTokenTable = (props: {
  label: string;
  tokens: readonly Resource<ApiToken>[];
  /** The consequences of revoking a token. */
  loss: string;
}) => (
  <DataTable
    label={props.label}
    rows={props.tokens}
    keyOf={({ id }) => id}
    columns={[
      { title: 'For', isName: true, cell: ({ id, attributes }) => attributes.description || id },
      { title: 'Made', cell: ({ attributes }) => formatTime(attributes['created-at']) },
      { title: 'Last used', cell: ({ attributes }) => formatTime(attributes['last-used-at']) },
      {
        title: 'Expires',
        cell: ({ attributes: { 'expired-at': at } }) => (at === null ? 'never' : formatTime(at)),
      },
      {
        title: 'Actions',
        isActions: true,
        cell: ({ id, attributes }) => (
          <DeleteButton
            label="Revoke"
            what={`the token ${attributes.description || id}`}
            name={`Revoke ${attributes.description || id}`}
            path={`authentication-tokens/${id}`}
          >
            {props.loss}
          </DeleteButton>
        ),
      },
    ]}
  />
);

/** @param expiry a value of a field for a local time; "" leaves the end to the server */
export const tokenBody = (description: string, expiry = ''): object => ({
  data: {
    type: 'authentication-tokens',
    attributes: {
      description,
      ...(expiry !== '' && { 'expired-at': new Date(expiry).toISOString() }),
    },
  },
});

/** The tokens of a team or an agent pool, for callers who may manage them. */
export const ApiTokens = (props: {
  /** Below `/api/v2/`. */
  path: string;
  /** Name of the team or the pool. */
  owner: string;
  /** Explains who uses the tokens. */
  purpose: string;
  empty: string;
  loss: string;
}) => {
  const { path, owner } = props;
  const [made, setMade] = useState<string>();
  return (
    <>
      {made !== undefined && (
        <ShownOnce what="the new token" secret={made}>
          {props.purpose}
        </ShownOnce>
      )}
      <PagedList<ApiToken> name={`tokens-of-${owner}`} path={path} empty={props.empty}>
        {({ data }) => (
          <ApiTokenTable label={`Tokens of ${owner}`} tokens={data} loss={props.loss} />
        )}
      </PagedList>
      <FormActions>
        <ActionButton
          label="Create a token"
          name={`Create a token for ${owner}`}
          title={`Create a token for ${owner}`}
          confirm="Create it"
          act={async ({ text }) => {
            const { data } = await callWorkspaces<OneDocument<ApiToken>>('POST', path, {
              body: tokenBody(text('description')),
            });
            setMade(data.attributes.token ?? undefined);
          }}
          commands={[workspacesCurl('POST', path, tokenBody('…'))]}
        >
          <p>{props.purpose}</p>
          <Label>
            Where it is used
            <Input name="description" required autoComplete="off" />
          </Label>
        </ActionButton>
      </FormActions>
      <Commands commands={[workspacesCurl('GET', path)]} />
    </>
  );
};
