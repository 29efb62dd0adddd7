/** Of the software: all its processes are released together. */
export const VERSION = '0.1.0';
