/** Buttons that save the certificates which a list selects. */
import { messageOf } from '../api/api-problem.ts';
import { warn } from '../api/notices.ts';
import { useAction } from '../api/queries.ts';
import { readSession } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { FormActions } from '../components/fields.tsx';
import { Problem } from '../components/page.tsx';
import { saveFile } from '../components/save-file.ts';
import { EXPORT_FORMATS, type ExportFormat, exported, readSelected } from './certificate-export.ts';

export const ExportButtons = (props: {
  mount: string;
  /** The filter as a query of the API. */
  filter: string;
  text: string;
  nowMs: number;
}) => {
  const { mount, filter, text, nowMs } = props;
  const saving = useAction(async (format: ExportFormat) => {
    const { found, isWhole } = await readSelected(mount, filter, text, readSession().namespace);
    saveFile(
      `certificates-of-${mount.replaceAll('/', '-')}.${format}`,
      exported(found, format, nowMs),
    );
    if (!isWhole)
      warn([
        'The file has only what was found in the 100,000 certificates that expire first. Narrow the list, or read it over the API.',
      ]);
  });
  return (
    <FormActions>
      {saving.error !== null && <Problem>{messageOf(saving.error)}</Problem>}
      {EXPORT_FORMATS.map((format) => (
        <Button key={format} disabled={saving.isPending} onClick={() => saving.run(format)}>
          Export as {format.toUpperCase()}
        </Button>
      ))}
    </FormActions>
  );
};
