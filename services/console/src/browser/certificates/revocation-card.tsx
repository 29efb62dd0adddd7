/** The revocation list as served, and the settings for CRLs and OCSP answers. */
import { useQuery } from '@tanstack/react-query';
import { mountAddress } from '../api/mount-address.ts';
import { useCapabilities, useSecret } from '../api/queries.ts';
import { callSecrets, readData } from '../api/secrets-api.ts';
import { useSession } from '../api/session.ts';
import { ActionButton } from '../components/action-button.tsx';
import { Commands, secretsCurl, vaultCommand } from '../components/commands.tsx';
import { FactList } from '../components/fact-list.tsx';
import { FormActions } from '../components/fields.tsx';
import { counted, formatDistance, formatTime } from '../components/format.ts';
import { Lifetime } from '../components/lifetime.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Card, Empty } from '../components/page.tsx';
import { Pill, PillRow } from '../components/pill.tsx';
import { Code } from '../components/text.tsx';
import { Choice } from '../editing/choice.tsx';
import { EditButton } from '../editing/edit-button.tsx';
import { secretTarget } from '../editing/edit-target.ts';
import { listContents } from './certificate-contents.ts';

interface CrlConfig {
  readonly expiry: string;
  readonly disable: boolean;
  readonly auto_rebuild: boolean;
  readonly auto_rebuild_grace_period: string;
  readonly enable_delta: boolean;
  readonly ocsp_disable: boolean;
  readonly ocsp_expiry: string;
}

/** The list of the default issuer. */
const ServedList = ({ mount }: { mount: string }) => {
  const { secrets, namespace } = useSession();
  const query = useQuery({
    queryKey: ['crl', secrets, namespace, mount],
    queryFn: async ({ signal }) => {
      const served = await readData<{ certificate?: string }>(`${mount}/cert/crl`, { signal });
      return served?.certificate === undefined ? null : listContents(served.certificate);
    },
  });
  return (
    <Loaded query={query}>
      {(list) =>
        list === null ? (
          <Empty>No list is served: the authority has no issuer.</Empty>
        ) : (
          <FactList
            facts={[
              ['Revoked', counted(list.count, 'certificate')],
              ['Made', formatTime(list.madeAt.getTime())],
              [
                'Next list',
                list.nextAt === undefined
                  ? 'not announced'
                  : `${formatTime(list.nextAt.getTime())}, ${formatDistance(list.nextAt.getTime(), Date.now())}`,
              ],
              ['Signed by', list.issuer],
            ]}
          />
        )
      }
    </Loaded>
  );
};

const ruleValues = (config: CrlConfig) => ({
  expiry: config.expiry,
  auto_rebuild: config.auto_rebuild,
  enable_delta: config.enable_delta,
  is_ocsp_answered: !config.ocsp_disable,
  ocsp_expiry: config.ocsp_expiry,
});

const changedRules = ({
  is_ocsp_answered: isAnswered,
  ...changed
}: Partial<ReturnType<typeof ruleValues>>): object => ({
  ...changed,
  ...(isAnswered !== undefined && { ocsp_disable: !isAnswered }),
});

const EditRules = ({ path }: { path: string }) => (
  <EditButton
    edits="revocation-rules"
    label="Change the rules"
    title="How revocation is published"
    target={secretTarget<CrlConfig>(path)}
    valuesOf={ruleValues}
    bodyOf={changedRules}
    fields={(values) => (
      <>
        <Lifetime name="expiry" required label="A list is valid for" value={values.expiry} />
        <Choice name="auto_rebuild" isTicked={values.auto_rebuild}>
          Lists are made at intervals, and not at each revocation
        </Choice>
        <Choice name="enable_delta" isTicked={values.enable_delta}>
          Between them, small lists of what was added
        </Choice>
        <Choice name="is_ocsp_answered" isTicked={values.is_ocsp_answered}>
          OCSP is answered
        </Choice>
        <Lifetime
          name="ocsp_expiry"
          required
          label="An OCSP answer is valid for"
          value={values.ocsp_expiry}
        />
      </>
    )}
    commands={() => [vaultCommand(`vault write ${path} expiry=72h auto_rebuild=true`)]}
  />
);

export const RevocationCard = ({ mount }: { mount: string }) => {
  const path = `${mount}/config/crl`;
  const rotate = `${mount}/crl/rotate`;
  const query = useSecret<CrlConfig>(path);
  const may = useCapabilities([path, rotate]);
  return (
    <Card title="Revocation list and OCSP">
      <Loaded query={query}>
        {(config) =>
          config !== null && (
            <>
              <PillRow>
                <Pill tone={config.disable ? 'bad' : 'good'}>
                  {config.disable ? 'no lists' : 'lists'}
                </Pill>
                <Pill tone={config.ocsp_disable ? 'bad' : 'good'}>
                  {config.ocsp_disable ? 'no OCSP' : 'OCSP'}
                </Pill>
                {config.enable_delta && <Pill tone="good">delta lists</Pill>}
              </PillRow>
              <ServedList mount={mount} />
              <FactList
                facts={[
                  ['A list is valid for', config.expiry],
                  [
                    'A list is made',
                    config.auto_rebuild
                      ? `${config.auto_rebuild_grace_period} before the last one expires`
                      : 'at each revocation',
                  ],
                  ['An OCSP answer is valid for', config.ocsp_expiry],
                  ['List for clients', <Code key="list">{`${mountAddress(mount)}/crl`}</Code>],
                  ['OCSP for clients', <Code key="ocsp">{`${mountAddress(mount)}/ocsp`}</Code>],
                ]}
              />
              <FormActions>
                {may(path, 'update') && <EditRules path={path} />}
                {may(rotate, 'read') && (
                  <ActionButton
                    label="Rebuild the list"
                    title="Rebuild the revocation list now?"
                    confirm="Create it"
                    act={() => callSecrets('GET', rotate)}
                    commands={[secretsCurl('GET', rotate), vaultCommand(`vault read ${rotate}`)]}
                  >
                    <p>It replaces the list that is served, and says all that is revoked by now.</p>
                  </ActionButton>
                )}
              </FormActions>
            </>
          )
        }
      </Loaded>
      <Commands commands={[secretsCurl('GET', path), vaultCommand(`vault read ${path}`)]} />
    </Card>
  );
};
