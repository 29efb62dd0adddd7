/** Ways to give a new workspace its first configuration. */
import { request } from '../api/api-problem.ts';
import { callWorkspaces, type OneDocument, type Resource } from '../api/workspaces-api.ts';
import { ActionButton, type SubmittedFields } from '../components/action-button.tsx';
import { workspacesCurl } from '../components/commands.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import { Input, Label } from '../components/fields.tsx';
import { Card } from '../components/page.tsx';
import { Steps } from '../components/steps.tsx';
import { Hint, Lines } from '../components/text.tsx';
import styles from './first-steps.module.css';
import type { WorkspaceAttributes } from './workspace.ts';

const versionBody = { data: { type: 'configuration-versions', attributes: {} } };

const Copied = ({ text, label }: { text: string; label: string }) => (
  <div className={styles['copied']}>
    <Lines>{text}</Lines>
    <CopyButton text={text} label={label} />
  </div>
);

/** @throws Error unless the archive has arrived */
const upload = async (workspaceId: string, fields: SubmittedFields): Promise<void> => {
  const archive = fields.file('archive');
  if (archive === null || archive.size === 0) throw new Error('Choose an archive first.');
  const { data } = await callWorkspaces<OneDocument<{ 'upload-url': string }>>(
    'POST',
    `workspaces/${workspaceId}/configuration-versions`,
    { body: versionBody },
  );
  // The document names the address known to API clients.
  const { pathname, search } = new URL(data.attributes['upload-url'], location.origin);
  const answer = await request(`${pathname}${search}`, { method: 'PUT', body: archive });
  if (!answer.ok) throw new Error(`The archive was not accepted: ${await answer.text()}`);
};

/** Begins a run by an archive. */
export const UploadConfiguration = (props: { workspace: Resource<WorkspaceAttributes> }) => {
  const { id, attributes } = props.workspace;
  return (
    <ActionButton
      label="Upload a configuration"
      title={`Upload a configuration for ${attributes.name}`}
      confirm="Upload"
      act={(fields) => upload(id, fields)}
      commands={[workspacesCurl('POST', `workspaces/${id}/configuration-versions`, versionBody)]}
    >
      <p>A run begins when it has arrived.</p>
      <Label>
        Archive (.tar.gz) of the folder with the configuration
        <Input type="file" name="archive" accept=".gz,.tgz,application/gzip" required />
      </Label>
    </ActionButton>
  );
};

export const FirstSteps = (props: {
  organization: string;
  workspace: Resource<WorkspaceAttributes>;
}) => {
  const { organization } = props;
  const { attributes } = props.workspace;
  const { hostname } = location;
  const block = [
    'terraform {',
    '  cloud {',
    `    hostname     = "${location.host}"`,
    `    organization = "${organization}"`,
    '    workspaces {',
    `      name = "${attributes.name}"`,
    '    }',
    '  }',
    '}',
  ].join('\n');
  return (
    <Card title="The first run">
      <Steps>
        <li>
          Add the workspace to a configuration:
          <Copied text={block} label="Copy the block" />
        </li>
        <li>
          Sign in, and begin:
          <Copied
            text={`terraform login ${location.host}\nterraform init\nterraform apply`}
            label="Copy the commands"
          />
          {location.protocol === 'http:' && hostname !== 'localhost' && (
            <Hint>Terraform asks for HTTPS: use the address with a certificate.</Hint>
          )}
        </li>
      </Steps>
      {attributes.permissions['can-queue-run'] && (
        <>
          <p>Without a terminal, upload a configuration, or follow a repository in the settings.</p>
          <UploadConfiguration workspace={props.workspace} />
        </>
      )}
    </Card>
  );
};
