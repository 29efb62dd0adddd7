/** Whether an issuer that is added becomes the default by itself. */
import { useCapabilities, useSecret } from '../../api/queries.ts';
import { vaultCommand } from '../../components/commands.tsx';
import { FormActions } from '../../components/fields.tsx';
import { Choice } from '../../editing/choice.tsx';
import { EditButton } from '../../editing/edit-button.tsx';
import { secretTarget } from '../../editing/edit-target.ts';

interface DefaultIssuer {
  readonly default: string;
  readonly default_follows_latest_issuer: boolean;
}

/** A sentence, with the button that changes it. */
export const FollowingDefault = ({ mount }: { mount: string }) => {
  const path = `${mount}/config/issuers`;
  const { data } = useSecret<DefaultIssuer>(path);
  const may = useCapabilities([path]);
  // The engine takes the rule only together with a default.
  if (!data || data.default === '') return null;
  return (
    <FormActions>
      <span>
        {data.default_follows_latest_issuer
          ? 'A new issuer becomes the default by itself, without a preview.'
          : 'A new issuer becomes the default by a person alone.'}
      </span>
      {may(path, 'update') && (
        <EditButton
          edits="default-issuer"
          label="Change how the default follows"
          title="When an issuer is added"
          look="small"
          target={secretTarget<DefaultIssuer>(path)}
          valuesOf={({ default_follows_latest_issuer: follows }) => ({
            default_follows_latest_issuer: follows,
          })}
          bodyOf={(changed, newest) => ({ default: newest.default, ...changed })}
          fields={(values) => (
            <Choice
              name="default_follows_latest_issuer"
              isTicked={values.default_follows_latest_issuer}
            >
              The newest issuer with a key becomes the default
            </Choice>
          )}
          commands={() => [
            vaultCommand(`vault write ${path} default=… default_follows_latest_issuer=true`),
          ]}
        />
      )}
    </FormActions>
  );
};
