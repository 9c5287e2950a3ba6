// schema/validate by ajv: schema.json and instance.json of the folder that is the argument.
import { readFileSync } from 'node:fs';
import Ajv2020 from 'ajv/dist/2020.js';
import { expect, measure } from './measure.mjs';

const read = (name) => JSON.parse(readFileSync(`${process.argv[2]}/${name}`, 'utf8'));
const ajv = new Ajv2020({ strict: false, multipleOfPrecision: 6 });
ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i);
ajv.addFormat('duration', /^P(?!$)(\d+Y)?(\d+M)?(\d+W)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+S)?)?$/);
const validate = ajv.compile(read('schema.json')), instance = read('instance.json');
expect(validate(instance) && !validate({ ...instance, unknown: 1 }), 'validate');
measure('schema', 'ajv', 'validate', () => validate(instance));
