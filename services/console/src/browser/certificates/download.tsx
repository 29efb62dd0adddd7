import { Button } from '../components/button.tsx';
import { saveFile } from '../components/save-file.ts';

/** Saves a text, or bytes, as a file on the user's machine, without another request. */
export const Download = (props: {
  name: string;
  content: string | Uint8Array<ArrayBuffer>;
  label: string;
  type?: string;
}) => {
  const save = (): void =>
    saveFile(
      props.name,
      new Blob([props.content], { type: props.type ?? 'application/x-pem-file' }),
    );
  return (
    <Button onClick={save} aria-label={`Download ${props.label}: ${props.name}`}>
      Download {props.label}
    </Button>
  );
};
