/** How errors become failures: their texts and stacks lie where the payload codec encrypts them. */
import { DefaultFailureConverter } from '@temporalio/common';

export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
