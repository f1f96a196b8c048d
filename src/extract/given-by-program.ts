/** Titles, authors and descriptions that programs put into documents: nobody searches for them. */
const GIVEN_BY_PROGRAM =
  /^(?:powerpoint[ -]presentation|powerpoint-präsentation|présentation powerpoint|presentación de powerpoint|(?:word )?document|presentation|workbook|slide 1|folie 1|no slide title|untitled(?: spreadsheet| document|-?\d+)?|unspecified|blank page|leere seite|page vierge|página en blanco|página em branco|pagina vuota|lege pagina|generated (?:by|using) [\w-]+|python-docx|openpyxl|xlsxwriter|apache poi|docx4j|phpword|phpspreadsheet|unknown(?: creator)?|windows user|microsoft office user|pid_\w+)$/i

/** Whether a document property was filled in by a program and not by a person. */
export function isGivenByProgram(value: string): boolean {
  return GIVEN_BY_PROGRAM.test(value)
}

/** Whether a property is the name of a file that a program converted, or saved first. */
export function isFileName(value: string): boolean {
  return /^[^/\\]{1,200}\.(?:do[ct][xm]?|rtf|odt|wps|xl[st][xmb]?|ods|pp[st][xm]?|odp|pdf|html?|txt)$/i.test(
    value,
  )
}

/** Custom properties that programs keep for themselves: sensitivity labels, content types, build numbers, ids of services. */
const PROGRAM_PROPERTY =
  /^(?:_|MSIP_Label|KSO|ICV$|ContentTypeId$|ComplianceAssetId$|MediaService|xd_|Tfs\.|TemplateUrl$|TriggerFlowInfo$|AppVersion$|fileid$|MTWinEqns|Mendeley|ZOTERO_|Citavi|Grammarly|GUID$|(?:Created|LastSaved|Creator)$|SlidesInto|Generator$)/i
/** GUIDs, long hexadecimal numbers and base64, moments in ISO form, truth values, paths of a disk: nothing that a person would type. */
const PROGRAM_VALUE =
  /^(?:\{?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\}?(?:[_,;|].*)?|(?:0x)?(?=\d*[a-f])[0-9a-f]{16,}(?:_\d+)?|[\w+/=]{40,}|\d{4}-\d\d-\d\dT[\d:.Z+-]+|true|false|\d|<.*>|(?:[a-z]:|\\)\\.+)$/i

/**
 * Whether a custom property is a program's own and not what a person filled in.
 *
 * @param name as the document gives it
 * @param value its text in one line
 */
export function isProgramProperty(name: string, value: string): boolean {
  return PROGRAM_PROPERTY.test(name.trim()) || PROGRAM_VALUE.test(value) || isGivenByProgram(value)
}

/** Names that programs give to new sheets. */
const GIVEN_SHEET_NAME =
  /^(?:sheet|tabelle|feuil|feuille|hoja|blad|planilha|folha|foglio|arkusz|лист|ark|munka|list|taul|taulukko|シート|工作表)_?\d+$/i

/** Whether a sheet is called as programs call their first ones: `Sheet1`, `Tabelle2`. */
export function isGivenSheetName(name: string): boolean {
  return GIVEN_SHEET_NAME.test(name)
}
