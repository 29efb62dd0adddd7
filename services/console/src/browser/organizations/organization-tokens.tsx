/** The two tokens of an organization: there is one of each kind, and a new one ends the one before. */
import { useState } from 'react';
import { useOptionalDocument } from '../api/queries.ts';
import {
  callWorkspaces,
  findDocument,
  type OneDocument,
  type Resource,
} from '../api/workspaces-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { type ApiToken, ApiTokenTable, tokenBody } from '../components/api-tokens.tsx';
import { Commands, workspacesCurl } from '../components/commands.tsx';
import { FormActions, Input, Label } from '../components/fields.tsx';
import { formatTime } from '../components/format.ts';
import { Loaded } from '../components/loaded.tsx';
import { Card, Empty } from '../components/page.tsx';
import { ShownOnce } from '../components/shown-once.tsx';
import { Hint } from '../components/text.tsx';

interface Kind {
  /** Its name after "token of". */
  readonly of: string;
  /** The end of its path. */
  readonly query: string;
  readonly purpose: string;
}

const KINDS: readonly Kind[] = [
  {
    of: 'the organization',
    query: '',
    purpose:
      'It manages workspaces, projects and teams. It takes no locks, starts no runs and reads no states.',
  },
  {
    of: 'the audit trail',
    query: '?token=audit-trails',
    purpose: 'It reads the audit trail and nothing else, for a program that collects events.',
  },
];

type Token = Resource<ApiToken>;

const MakeToken = (props: {
  kind: Kind;
  path: string;
  token: Token | undefined;
  /** Reads again. @returns the id of the token that is there now */
  readId: () => Promise<string | undefined>;
  onMade: (secret: string | undefined) => void;
}) => {
  const { kind, path, token } = props;
  const label = token === undefined ? 'Create' : 'Replace';
  return (
    <ActionButton
      label={label}
      name={`${label} the token of ${kind.of}`}
      tone={token === undefined ? 'primary' : 'danger'}
      title={`${label} the token of ${kind.of}?`}
      confirm={`${label} it`}
      act={async ({ text }) => {
        if ((await props.readId()) !== token?.id)
          throw new Error(
            'Somebody else has changed it meanwhile. The page shows it as it is now: confirm again, or cancel.',
          );
        const { data } = await callWorkspaces<OneDocument<ApiToken>>('POST', path, {
          body: tokenBody(text('description'), text('expiry')),
        });
        props.onMade(data.attributes.token ?? undefined);
      }}
      commands={[workspacesCurl('POST', path, tokenBody('…'))]}
    >
      <p>{kind.purpose}</p>
      {token && (
        <p>
          {`The old token ends at once, and programs that use it are refused. It was made: ${formatTime(token.attributes['created-at'])}. Last used: ${formatTime(token.attributes['last-used-at'])}.`}
        </p>
      )}
      <Label>
        Where it is used
        <Input name="description" required autoComplete="off" />
      </Label>
      <Label>
        Expires (empty: in two years)
        <Input name="expiry" type="datetime-local" />
      </Label>
    </ActionButton>
  );
};

const TokenCard = ({ organization, kind }: { organization: string; kind: Kind }) => {
  const path = `organizations/${encodeURIComponent(organization)}/authentication-token${kind.query}`;
  const query = useOptionalDocument<OneDocument<ApiToken>>(path);
  const [made, setMade] = useState<string>();
  const readId = async (): Promise<string | undefined> => {
    const newest = await findDocument<OneDocument<ApiToken>>(path);
    await query.refetch();
    return newest?.data.id;
  };
  return (
    <Card title={`Token of ${kind.of}`}>
      <Hint>{kind.purpose}</Hint>
      {made !== undefined && (
        <ShownOnce what={`the new token of ${kind.of}`} secret={made}>
          Give it to the program that uses it.
        </ShownOnce>
      )}
      <Loaded query={query}>
        {(found) => (
          <>
            {found === null ? (
              <Empty>No token has been created.</Empty>
            ) : (
              <ApiTokenTable
                label={`Token of ${kind.of}`}
                tokens={[found.data]}
                loss="Programs that use it are refused from now on."
              />
            )}
            <FormActions>
              <MakeToken
                kind={kind}
                path={path}
                token={found?.data}
                readId={readId}
                onMade={setMade}
              />
            </FormActions>
          </>
        )}
      </Loaded>
      <Commands commands={[workspacesCurl('GET', path)]} />
    </Card>
  );
};

/** For callers who may manage the tokens of the organization. */
export const OrganizationTokens = ({ organization }: { organization: string }) => (
  <>
    {KINDS.map((kind) => (
      <TokenCard key={kind.query} organization={organization} kind={kind} />
    ))}
  </>
);
