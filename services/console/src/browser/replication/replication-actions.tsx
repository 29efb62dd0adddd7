/**
 * The actions that the cluster's role and the token's policies allow; each explains which data it
 * erases, loses or withholds.
 */
import { useCapabilities } from '../api/queries.ts';
import { FormActions } from '../components/fields.tsx';
import { EnablePrimary, PrimaryActions, primaryPaths } from './primary-actions.tsx';
import type { Status } from './replication-status.ts';
import { type Kind, ROOT } from './role-change.tsx';
import { BecomeSecondary, SecondaryActions, secondaryPaths } from './secondary-actions.tsx';

export const ReplicationActions = (props: { kind: Kind; status: Status | undefined }) => {
  const { kind, status } = props;
  const mode = status?.mode ?? 'disabled';
  const ids = (status?.secondaries ?? []).map((one) => String(one['node_id']));
  const may = useCapabilities([...primaryPaths(kind, ids), ...secondaryPaths(kind)], ROOT);
  if (mode === 'secondary' || mode === 'bootstrapping')
    return <SecondaryActions kind={kind} isFilled={mode === 'secondary'} may={may} />;
  return (
    <FormActions>
      {mode === 'primary' ? (
        <PrimaryActions kind={kind} ids={ids} may={may} />
      ) : (
        <>
          {may(`sys/replication/${kind}/primary/enable`, 'update') && <EnablePrimary kind={kind} />}
          {may(`sys/replication/${kind}/secondary/enable`, 'update') && (
            <BecomeSecondary kind={kind} />
          )}
        </>
      )}
    </FormActions>
  );
};
