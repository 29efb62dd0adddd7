/** One policy: its rules, and a tester for the capabilities of tokens. */
import { getRouteApi, Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { messageOf } from '../api/api-problem.ts';
import { useAction, useCapabilities, useSecret } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Commands, secretsCurl, vaultCommand } from '../components/commands.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Card, Empty, Page, Problem } from '../components/page.tsx';
import { PolicyTester } from './policy-tester.tsx';
import { PolicyText } from './policy-text.tsx';

const route = getRouteApi('/ui/policies/$name');
/** The root policy grants everything and cannot be changed. */
const FIXED = 'root';

const Editor = (props: { path: string; policy: string; mayChange: boolean }) => {
  const [text, setText] = useState(props.policy);
  const saving = useAction(() => callSecrets('POST', props.path, { body: { policy: text } }));
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    saving.run();
  };
  const isChanged = text !== props.policy;
  return (
    <form onSubmit={submit}>
      {saving.error !== null && <Problem>{messageOf(saving.error)}</Problem>}
      <PolicyText value={text} onChange={setText} isReadOnly={!props.mayChange} />
      {props.mayChange && (
        <div className="form-actions">
          <button type="submit" className="primary" disabled={!isChanged || saving.isPending}>
            Save
          </button>
          {isChanged && (
            <button type="button" onClick={() => setText(props.policy)}>
              Undo
            </button>
          )}
        </div>
      )}
    </form>
  );
};

export const PolicyPage = () => {
  const { name } = route.useParams();
  const navigate = route.useNavigate();
  const path = `sys/policies/acl/${encodeURIComponent(name)}`;
  const query = useSecret<{ readonly policy: string }>(path);
  const may = useCapabilities([path]);
  const mayDelete = may(path, 'delete') && name !== FIXED && name !== 'default';
  return (
    <Page
      title={name}
      windowTitle={`Policy ${name}`}
      lead={<Link to="/ui/policies">Policies</Link>}
      actions={
        mayDelete && (
          <ActionButton
            label="Delete"
            title={`Delete the policy ${name}?`}
            confirm="Delete it"
            tone="danger"
            typed={name}
            act={() => callSecrets('DELETE', path)}
            onDone={() => void navigate({ to: '/ui/policies' })}
            commands={[secretsCurl('DELETE', path), vaultCommand(`vault policy delete ${name}`)]}
          >
            <p>Tokens that have it keep its name and lose at once what it grants.</p>
          </ActionButton>
        )
      }
    >
      <Card>
        {name === FIXED ? (
          <Empty>It grants everything, and has no rules to show.</Empty>
        ) : (
          <Loaded query={query}>
            {(policy) =>
              policy === null ? (
                <Empty>There is no policy of this name in this namespace.</Empty>
              ) : (
                <Editor
                  key={policy.policy}
                  path={path}
                  policy={policy.policy}
                  mayChange={may(path, 'update')}
                />
              )
            }
          </Loaded>
        )}
        <Commands
          commands={[secretsCurl('GET', path), vaultCommand(`vault policy read ${name}`)]}
        />
      </Card>
      <PolicyTester />
    </Page>
  );
};
