/** Snapshots of the cluster: taking one, and replacing everything by one. */
import { messageOf } from '../api/api-problem.ts';
import { useAction, useCapabilities } from '../api/queries.ts';
import { sendSecrets } from '../api/secrets-api.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Button } from '../components/button.tsx';
import { Commands, rootCurl, rootVaultCommand } from '../components/commands.tsx';
import { ChoiceLabel, Input, Label } from '../components/fields.tsx';
import { Card, Empty, Page, Problem } from '../components/page.tsx';
import { saveFile } from '../components/save-file.ts';

const PATH = 'sys/storage/raft/snapshot';
const FORCED = `${PATH}-force`;
/** Snapshots exist in the root namespace only. */
const ROOT = { namespace: '' } as const;

const take = async (): Promise<void> => {
  const answer = await sendSecrets('GET', PATH, ROOT);
  const day = new Date().toISOString().slice(0, 10);
  saveFile(`keelson-${day}.snapshot`, await answer.blob());
};

const Take = () => {
  const taking = useAction(take);
  return (
    <Card title="Take a snapshot">
      {taking.error !== null && <Problem>{messageOf(taking.error)}</Problem>}
      <p>
        One file with all records of the cluster: certificates and keys, tokens, policies,
        workspaces and states. It is encrypted: nobody can restore it without the keys of this
        cluster, which it does not contain.
      </p>
      <Button look="primary" disabled={taking.isPending} onClick={() => taking.run()}>
        {taking.isPending ? 'Taking it…' : 'Take a snapshot'}
      </Button>
      <Commands
        commands={[
          {
            tool: 'curl',
            text: `${rootCurl('GET', PATH).text} -o keelson.snapshot`,
          },
          rootVaultCommand('vault operator raft snapshot save keelson.snapshot'),
        ]}
      />
    </Card>
  );
};

const restore = async (file: File | null, isForced: boolean): Promise<void> => {
  if (file === null) return;
  await sendSecrets('POST', isForced ? FORCED : PATH, {
    ...ROOT,
    content: file,
    contentType: 'application/gzip',
  });
};

const Restore = ({ mayForce }: { mayForce: boolean }) => (
  <Card title="Restore a snapshot">
    <p>
      The whole file is verified before anything is replaced. Afterwards the cluster is sealed, and
      opened with the keys that it had when the snapshot was taken.
    </p>
    <ActionButton
      label="Restore a snapshot"
      tone="danger"
      title="Replace everything by a snapshot?"
      confirm="Replace everything"
      typed="replace everything"
      act={({ file, isChecked }) => restore(file('snapshot'), isChecked('force'))}
      commands={[
        {
          tool: 'curl',
          text: `${rootCurl('POST', PATH).text} --data-binary @keelson.snapshot`,
        },
        rootVaultCommand('vault operator raft snapshot restore keelson.snapshot'),
      ]}
    >
      <p>
        <strong>Everything written since the snapshot is lost</strong>: certificates, tokens,
        policies, workspaces and states. This page is signed out.
      </p>
      <Label>
        File
        <Input name="snapshot" type="file" required />
      </Label>
      {mayForce && (
        <ChoiceLabel>
          <input type="checkbox" name="force" /> Also a snapshot of another cluster, or with former
          keys
        </ChoiceLabel>
      )}
    </ActionButton>
  </Card>
);

export const SnapshotsPage = () => {
  const may = useCapabilities([PATH, FORCED], ROOT);
  const mayTake = may(PATH, 'read', 'sudo');
  const mayRestore = may(PATH, 'update', 'sudo');
  return (
    <Page title="Snapshots" lead="Copies of the whole cluster, taken while it serves requests.">
      {!mayTake && !mayRestore && <Empty>This token may neither take nor restore snapshots.</Empty>}
      {mayTake && <Take />}
      {mayRestore && <Restore mayForce={may(FORCED, 'update', 'sudo')} />}
    </Page>
  );
};
