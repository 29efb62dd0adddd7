/** Version of the software, one for all processes because they are released together. */
export const VERSION = '0.1.0';
