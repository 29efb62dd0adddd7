/** Saves a text, or bytes, as a file on the user's machine, without another request. */
export const Download = (props: {
  name: string;
  content: string | Uint8Array<ArrayBuffer>;
  label: string;
  type?: string;
}) => {
  const save = (): void => {
    const blob = new Blob([props.content], { type: props.type ?? 'application/x-pem-file' });
    const address = URL.createObjectURL(blob);
    const link = document.createElement('a');
    link.href = address;
    link.download = props.name;
    link.click();
    URL.revokeObjectURL(address);
  };
  return (
    <button type="button" onClick={save} aria-label={`Download ${props.label}: ${props.name}`}>
      Download {props.label}
    </button>
  );
};
