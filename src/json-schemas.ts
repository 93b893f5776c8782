import { z } from 'zod';
import { settingsSchema } from './settings-schema.ts';
import { mappingSchema } from './translator/mapping.ts';

/** The JSON Schemas that stand beside the config files, by file, made from the schemas that the program checks with. */
export function jsonSchemas(): Record<string, string> {
  return {
    'config/jetbridge.schema.json': textOf(settingsSchema),
    'config/mapping.schema.json': textOf(mappingSchema),
  };
}

function textOf(schema: z.ZodType): string {
  return `${JSON.stringify(z.toJSONSchema(schema, { io: 'input' }), null, 2)}\n`;
}
