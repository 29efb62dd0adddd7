/** A certificate by an authority that is not of this server: it gets the request, and sends the certificate. */

import { messageOf } from '../../api/api-problem.ts';
import { useAction } from '../../api/queries.ts';
import { callSecrets } from '../../api/secrets-api.ts';
import { ActionButton } from '../../components/action-button.tsx';
import { Button } from '../../components/button.tsx';
import { secretsCurl, vaultCommand } from '../../components/commands.tsx';
import { FormActions, Label, TextArea } from '../../components/fields.tsx';
import { Card, Problem } from '../../components/page.tsx';
import { saveFile } from '../../components/save-file.ts';
import { requestFor, type Subject } from './certification.ts';

/** Imports a certificate that somebody else has signed for a key of the authority. */
export const ImportSigned = ({ mount }: { mount: string }) => {
  const path = `${mount}/intermediate/set-signed`;
  return (
    <ActionButton
      label="Import a signed certificate"
      title="Import what the outside authority has signed"
      confirm="Import it"
      act={({ text }) => callSecrets('POST', path, { body: { certificate: text('pem') } })}
      commands={[
        secretsCurl('POST', path, { certificate: '…' }),
        vaultCommand(`vault write ${path} certificate=@signed.pem`),
      ]}
    >
      <Label>
        Certificate and its chain in PEM
        <TextArea name="pem" isCode rows={6} required />
      </Label>
    </ActionButton>
  );
};

export const OutsideSigner = (props: {
  mount: string;
  keyId: string;
  /** Undefined while the subject is not known. */
  subject: Subject | undefined;
  mayRequest: boolean;
  mayImport: boolean;
}) => {
  const { mount, keyId, subject } = props;
  const making = useAction(async () => {
    const csr = await requestFor(mount, keyId, subject ?? {});
    saveFile('authority.csr', new Blob([csr], { type: 'application/x-pem-file' }));
  });
  return (
    <Card title="By an authority elsewhere">
      <p>
        It gets the certificate request of the key, which can be made again at any time, and sends
        the certificate, which is imported with its chain.
      </p>
      {making.error !== null && <Problem>{messageOf(making.error)}</Problem>}
      <FormActions>
        {props.mayRequest && (
          <Button disabled={making.isPending || subject === undefined} onClick={() => making.run()}>
            Download the request
          </Button>
        )}
        {props.mayImport && <ImportSigned mount={mount} />}
      </FormActions>
    </Card>
  );
};
