/** Titles, authors and descriptions that programs put into documents: nobody searches for them. */
const GIVEN_BY_PROGRAM =
  /^(?:powerpoint[ -]presentation|powerpoint-präsentation|présentation powerpoint|presentación de powerpoint|(?:word )?document|presentation|workbook|slide 1|folie 1|no slide title|untitled(?: spreadsheet)?|generated (?:by|using) [\w-]+|python-docx|openpyxl|xlsxwriter|apache poi|docx4j|phpword|phpspreadsheet|unknown(?: creator)?|windows user|microsoft office user|pid_\w+)$/i

/** Whether a document property was filled in by a program and not by a person. */
export function isGivenByProgram(value: string): boolean {
  return GIVEN_BY_PROGRAM.test(value)
}

/** Names that programs give to new sheets. */
const GIVEN_SHEET_NAME =
  /^(?:sheet|tabelle|feuil|feuille|hoja|blad|planilha|folha|foglio|arkusz|лист|ark|munka|list|taul|taulukko|シート|工作表)_?\d+$/i

/** Whether a sheet is called as programs call their first ones: `Sheet1`, `Tabelle2`. */
export function isGivenSheetName(name: string): boolean {
  return GIVEN_SHEET_NAME.test(name)
}
