/** Tokens that users create for their own tools, among those that `terraform login` has made. */
import { type FormEvent, useState } from 'react';
import { messageOf } from '../api/api-problem.ts';
import { useAction, useDocument } from '../api/queries.ts';
import { callWorkspaces, type OneDocument } from '../api/workspaces-api.ts';
import { type ApiToken, ApiTokenTable, tokenBody } from '../components/api-tokens.tsx';
import { Button } from '../components/button.tsx';
import { Commands, workspacesCurl } from '../components/commands.tsx';
import { Input, Label, Pair } from '../components/fields.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Card, Page, Problem } from '../components/page.tsx';
import { PagedList } from '../components/paged-list.tsx';
import { ShownOnce } from '../components/shown-once.tsx';

const MakeToken = ({ path }: { path: string }) => {
  const [description, setDescription] = useState('');
  const [expiry, setExpiry] = useState('');
  const [made, setMade] = useState<string>();
  const body = tokenBody(description, expiry);
  const making = useAction(
    () => callWorkspaces<OneDocument<ApiToken>>('POST', path, { body }),
    ({ data }) => {
      setMade(data.attributes.token ?? undefined);
      setDescription('');
    },
  );
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    making.run();
  };
  return (
    <Card title="Create a token">
      {made !== undefined && (
        <ShownOnce what="the new token" secret={made}>
          Paste it where the tool asks for it.
        </ShownOnce>
      )}
      <form onSubmit={submit}>
        {making.error !== null && <Problem>{messageOf(making.error)}</Problem>}
        <Pair>
          <Label>
            Purpose
            <Input
              required
              autoComplete="off"
              value={description}
              onChange={({ target }) => setDescription(target.value)}
            />
          </Label>
          <Label>
            Expires (empty: in two years)
            <Input
              type="datetime-local"
              value={expiry}
              onChange={({ target }) => setExpiry(target.value)}
            />
          </Label>
        </Pair>
        <Button type="submit" look="primary" disabled={making.isPending}>
          Create token
        </Button>
        <Commands
          commands={[
            workspacesCurl('POST', path, body),
            { tool: 'terraform', text: `terraform login ${location.host}` },
          ]}
        />
      </form>
    </Card>
  );
};

const Tokens = ({ userId }: { userId: string }) => {
  const path = `users/${userId}/authentication-tokens`;
  return (
    <>
      <MakeToken path={path} />
      <Card title="Your tokens">
        <PagedList<ApiToken> name="tokens" path={path} empty="You have no token of this kind.">
          {({ data }) => (
            <ApiTokenTable
              label="Your tokens"
              tokens={data}
              loss="Tools that use it are refused from now on. If it is the one that you signed in with, this session ends."
            />
          )}
        </PagedList>
        <Commands commands={[workspacesCurl('GET', path)]} />
      </Card>
    </>
  );
};

export const ApiTokensPage = () => {
  const query = useDocument<OneDocument<{ username: string }>>('account/details');
  return (
    <Page
      title="API tokens"
      lead="For terraform and other tools that speak to the workspace API as you."
    >
      <Loaded query={query}>{({ data }) => <Tokens userId={data.id} />}</Loaded>
    </Page>
  );
};
