/** The settings of a workspace that affect plans and applies. */
import { type FormEvent, useState } from 'react';
import { AgentPoolSelect } from '../agents/agent-pool-select.tsx';
import { messageOf } from '../api/api-problem.ts';
import { useAction } from '../api/queries.ts';
import { callWorkspaces, type Resource } from '../api/workspaces-api.ts';
import { fieldsOf } from '../components/action-button.tsx';
import { Commands, workspacesCurl } from '../components/commands.tsx';
import { Card, Problem } from '../components/page.tsx';
import type { WorkspaceAttributes } from './workspace.ts';

const MODES = [
  ['local', 'on the machine of whoever starts them; only the state is kept here'],
  ['agent', 'by agents of a pool'],
  ['remote', 'by the executors of this server'],
] as const;

const attributesOf = (form: HTMLFormElement): object => {
  const { text, isChecked } = fieldsOf(form);
  const mode = text('mode');
  return {
    name: text('name'),
    description: text('description'),
    'execution-mode': mode,
    ...(mode === 'agent' && { 'agent-pool-id': text('pool') }),
    'terraform-version': text('version'),
    'working-directory': text('directory'),
    'auto-apply': isChecked('auto-apply'),
    'global-remote-state': isChecked('global'),
  };
};

export const SettingsForm = (props: {
  organization: string;
  workspace: Resource<WorkspaceAttributes>;
  /** Called with the new name, which is part of the page's URL. */
  onSaved: (name: string) => void;
}) => {
  const { organization, workspace } = props;
  const { attributes } = workspace;
  const path = `workspaces/${workspace.id}`;
  const [mode, setMode] = useState(attributes['execution-mode']);
  const [sent, setSent] = useState<object>({ 'auto-apply': !attributes['auto-apply'] });
  const bodyOf = (given: object): object => ({ data: { type: 'workspaces', attributes: given } });
  const saving = useAction(
    (given: object) => callWorkspaces('PATCH', path, { body: bodyOf(given) }),
    (_, given) => props.onSaved((given as { name: string }).name),
  );
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    saving.run(attributesOf(event.currentTarget));
  };
  const pool = workspace.relationships?.['agent-pool']?.data;
  const poolId =
    pool === null || pool === undefined || Array.isArray(pool) ? '' : (pool as { id: string }).id;
  return (
    <Card title="Settings">
      <form
        onSubmit={submit}
        onChange={(event) => setSent(attributesOf(event.currentTarget))}
        aria-label="Settings"
      >
        {saving.error !== null && <Problem>{messageOf(saving.error)}</Problem>}
        <div className="pair">
          <label>
            Name
            <input
              name="name"
              required
              autoComplete="off"
              pattern="[A-Za-z0-9_\-]+"
              defaultValue={attributes.name}
            />
          </label>
          <label>
            Description
            <input
              name="description"
              autoComplete="off"
              defaultValue={attributes.description ?? ''}
            />
          </label>
        </div>
        <label>
          Runs are executed
          <select name="mode" value={mode} onChange={({ target }) => setMode(target.value)}>
            {MODES.map(([name, words]) => (
              <option key={name} value={name}>
                {words}
              </option>
            ))}
          </select>
        </label>
        {mode === 'agent' && (
          <label>
            Agent pool
            <AgentPoolSelect organization={organization} name="pool" selected={poolId} />
          </label>
        )}
        <div className="pair">
          <label>
            Version of the tool
            <input
              name="version"
              required
              autoComplete="off"
              defaultValue={attributes['terraform-version'] ?? 'latest'}
            />
          </label>
          <label>
            Working directory (empty: the top)
            <input
              name="directory"
              autoComplete="off"
              defaultValue={attributes['working-directory'] ?? ''}
            />
          </label>
        </div>
        <label className="choice">
          <input type="checkbox" name="auto-apply" defaultChecked={attributes['auto-apply']} />{' '}
          Plans are applied without a confirmation
        </label>
        <label className="choice">
          <input type="checkbox" name="global" defaultChecked={attributes['global-remote-state']} />{' '}
          Every workspace of the organization may read the state
        </label>
        <div className="form-actions">
          <button type="submit" className="primary" disabled={saving.isPending}>
            Save settings
          </button>
        </div>
        <Commands commands={[workspacesCurl('PATCH', path, bodyOf(sent))]} />
      </form>
    </Card>
  );
};
