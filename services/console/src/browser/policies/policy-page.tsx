/** One policy: its rules, and a tester for the capabilities of tokens. */
import { getRouteApi } from '@tanstack/react-router';
import { useCapabilities, useSecret } from '../api/queries.ts';
import { callSecrets } from '../api/secrets-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Commands, secretsCurl, vaultCommand } from '../components/commands.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Card, Empty, Page } from '../components/page.tsx';
import { PageLink } from '../components/page-link.tsx';
import { EditForm } from '../editing/edit-form.tsx';
import { secretTarget } from '../editing/edit-target.ts';
import { PolicyTester } from './policy-tester.tsx';
import { PolicyRules, PolicyText } from './policy-text.tsx';

const route = getRouteApi('/ui/policies/$name');
/** The root policy grants everything and cannot be changed. */
const FIXED = 'root';

interface Policy {
  readonly policy: string;
}

export const PolicyPage = () => {
  const { name } = route.useParams();
  const navigate = route.useNavigate();
  const path = `sys/policies/acl/${encodeURIComponent(name)}`;
  const query = useSecret<Policy>(path);
  const may = useCapabilities([path]);
  const mayDelete = may(path, 'delete') && name !== FIXED && name !== 'default';
  return (
    <Page
      title={name}
      windowTitle={`Policy ${name}`}
      lead={<PageLink to="/ui/policies">Policies</PageLink>}
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
              ) : may(path, 'update') ? (
                <EditForm
                  edits="policy"
                  label="Policy"
                  document={policy}
                  target={secretTarget<Policy>(path)}
                  valuesOf={(stored) => ({ policy: stored.policy })}
                  bodyOf={(changed) => changed}
                  fields={(values) => <PolicyRules first={values.policy} />}
                  commands={() => [vaultCommand(`vault policy write ${name} policy.hcl`)]}
                />
              ) : (
                <PolicyText key={policy.policy} value={policy.policy} isReadOnly />
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
