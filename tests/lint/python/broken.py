#: what comes before broken syntax is found
import os

os.system("ls")  #> python-shell-call
def broken(:
    pass

#: what comes after broken syntax is found
import os

x = = 1
os.system("ls")  #> python-shell-call

#: a string that does not end hides nothing before it
import os

os.system("ls")  #> python-shell-call
text = "never closed

#: a formatted string with strings inside hides nothing
import os

text = f"{'}' + '"'}"; os.system("ls")  #> python-shell-call

#: a formatted string over lines hides nothing
import os

text = f"""{
'''a'''
}"""
os.system("ls")  #> python-shell-call

#: a quote in a comment hides nothing
# it's
import os

os.system("ls")  #> python-shell-call

#: a quote after a backslash hides nothing
import os

quote = '\''
path = "C:\\"
os.system("ls")  #> python-shell-call

#: a raw string that ends in two backslashes hides nothing
import os

path = r"C:\\"
os.system("ls")  #> python-shell-call

#: a string continued on the next line hides nothing
import os

text = "a \
b"; os.system("ls")  #> python-shell-call

#: three quotes within three of the other kind hide nothing
import os

text = """ ''' """
os.system("ls")  #> python-shell-call
