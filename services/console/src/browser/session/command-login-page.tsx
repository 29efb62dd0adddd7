/** The page that `terraform login` and `tofu login` open, on which the user gives the command a token or refuses it. */
import { useSearch } from '@tanstack/react-router';
import { messageOf } from '../api/api-problem.ts';
import { useAction, useDocument } from '../api/queries.ts';
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import { callWorkspaces, type OneDocument } from '../api/workspaces-api.ts';
import { Button } from '../components/button.tsx';
import { Commands, workspacesCurl } from '../components/commands.tsx';
import { FormActions } from '../components/fields.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Card, Page, Problem } from '../components/page.tsx';
import { PageLink } from '../components/page-link.tsx';
import { COMMAND_LOGIN_PATH, type CommandLogin, decisionBody, portOf } from './command-login.ts';

type Decided = ResourceAttributes['command-logins'];

const Question = (props: { login: CommandLogin; username: string; port: string }) => {
  const { login, username, port } = props;
  const action = useAction(
    (isApproved: boolean) =>
      callWorkspaces<OneDocument<Decided>>('POST', 'command-logins', {
        body: decisionBody(login, isApproved),
      }),
    // In place of this page, so that going back does not ask again.
    ({ data }) => location.replace(data.attributes['redirect-to']),
  );
  return (
    <>
      {action.error !== null && <Problem>{messageOf(action.error)}</Problem>}
      <p>
        <strong>terraform login</strong> or <strong>tofu login</strong> asks for an API token of
        your account <strong>{username}</strong>. The command listens on port {port} of this
        computer.
      </p>
      <p>
        Approve only if you have just started it yourself on this computer: with the token it may do
        everything that you may, for two years. The token appears among your{' '}
        <PageLink to="/app/settings/tokens">API tokens</PageLink>, where you can revoke it.
      </p>
      <FormActions>
        <Button look="primary" disabled={action.isPending} onClick={() => action.run(true)}>
          Give the command a token
        </Button>
        <Button disabled={action.isPending} onClick={() => action.run(false)}>
          Refuse
        </Button>
      </FormActions>
      <Commands commands={[workspacesCurl('POST', 'command-logins', decisionBody(login, true))]} />
    </>
  );
};

export const CommandLoginPage = () => {
  const login = useSearch({ from: COMMAND_LOGIN_PATH });
  const query = useDocument<OneDocument<{ username: string }>>('account/details');
  const port = portOf(login);
  return (
    <Page title="Login of a command">
      <Card>
        {port === undefined ? (
          <Problem>
            This address does not come from terraform login or tofu login on this computer: nothing
            is given to it.
          </Problem>
        ) : (
          <Loaded query={query}>
            {({ data }) => (
              <Question login={login} username={data.attributes.username} port={port} />
            )}
          </Loaded>
        )}
      </Card>
    </Page>
  );
};
